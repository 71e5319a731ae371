// What fi_getinfo offers is what was asked for.
#include "suites/ofi/messages.hpp"

#include <fmt/format.h>

#include "suites/ofi/calls.hpp"

using namespace assay;
using namespace assay::fabric;

namespace {

axis<std::uint64_t> const& capabilities() {
    static axis<std::uint64_t> const axis("caps",
                                          {{{"msg", "FI_MSG"}, FI_MSG},
                                           {{"tagged", "FI_TAGGED"}, FI_TAGGED},
                                           {{"rma", "FI_RMA"}, FI_RMA},
                                           {{"atomic", "FI_ATOMIC"}, FI_ATOMIC},
                                           {{"directed", "FI_TAGGED, FI_DIRECTED_RECV"}, FI_TAGGED | FI_DIRECTED_RECV},
                                           {{"source", "FI_MSG, FI_SOURCE"}, FI_MSG | FI_SOURCE},
                                           {{"multi_recv", "FI_MSG, FI_MULTI_RECV"}, FI_MSG | FI_MULTI_RECV},
                                           {{"send", "FI_MSG, FI_SEND"}, FI_MSG | FI_SEND},
                                           {{"all", "FI_MSG, FI_TAGGED, FI_RMA"}, FI_MSG | FI_TAGGED | FI_RMA}});
    return axis;
}

} // namespace

OFI_TEST(getinfo, requirements{"ofi.info.caps", "ofi.info.no_more", "ofi.info.attributes"},
         over(axis_use{&providers()}, axis_use{&capabilities()})) {
    auto const wanted = ofi.at(capabilities());
    auto hints = empty_hints();
    hints->caps = wanted;
    auto const accepted_mode = hints->mode;
    auto const accepted_mr = hints->domain_attr->mr_mode;
    auto const found = ask(ofi.at(providers()), std::move(hints));
    if (!found)
        ofi.unsupported(
            fmt::format("{} offers no endpoint with {}", ofi.at(providers()), fi_tostr(&wanted, FI_TYPE_CAPS)));
    ofi.check((found->caps & wanted) == wanted, finding::info,
              fmt::format("caps are {}", fi_tostr(&found->caps, FI_TYPE_CAPS)));
    constexpr std::uint64_t primary = FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC | FI_DIRECTED_RECV;
    auto const more = found->caps & primary & ~wanted;
    ofi.check("ofi.info.no_more", more == 0, finding::info,
              fmt::format("primary capabilities that nobody asked for: {}", fi_tostr(&more, FI_TYPE_CAPS)));
    ofi.check((found->mode & ~accepted_mode) == 0, finding::info,
              fmt::format("mode demands {}", fi_tostr(&found->mode, FI_TYPE_MODE)));
    ofi.check((found->domain_attr->mr_mode & ~accepted_mr) == 0, finding::info,
              fmt::format("mr_mode demands {:#x}", found->domain_attr->mr_mode));
    ofi.check(found->ep_attr->type == FI_EP_RDM, finding::info, "another type of endpoint than was asked for");
    ofi.check(found->tx_attr->size > 0 && found->rx_attr->size > 0 && found->ep_attr->max_msg_size > 0, finding::info,
              "a limit is 0");
    auto const both = found->tx_attr->caps | found->rx_attr->caps;
    constexpr std::uint64_t of_transfers = FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC;
    ofi.check((both & wanted & of_transfers) == (wanted & of_transfers), finding::info,
              fmt::format("neither tx_attr nor rx_attr has all of {}", fi_tostr(&wanted, FI_TYPE_CAPS)));
}
