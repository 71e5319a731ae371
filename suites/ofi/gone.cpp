// A peer that is killed: operations with it end, with an error, whether they were begun before it died or afterwards.
#include "suites/ofi/messages.hpp"
#include "suites/ofi/victim.hpp"

#include <chrono>
#include <fmt/format.h>

#include "suites/ofi/calls.hpp"

using namespace assay;
using namespace assay::fabric;

namespace {

enum class moment { strange, before, after };
axis<moment> const& moments() {
    static axis<moment> const axis(
        "killed", {{{"unmet", "before the two have spoken, and before anything is posted"}, moment::strange},
                   {{"after_posting", "while operations wait for it"}, moment::before},
                   {{"before_posting", "before operations for it are posted"}, moment::after}});
    return axis;
}

constexpr std::chrono::seconds death_notice{5}; // for a death to be noticed

} // namespace

OFI_TEST(peer_gone, requirements{"ofi.peer.gone", "ofi.peer.gone_promised"},
         over(axis_use{&providers()}, axis_use{&moments()})) {
    auto const& provider = ofi.at(providers());
    auto const when = ofi.at(moments());
    wish what;
    what.caps = FI_TAGGED | FI_DIRECTED_RECV;
    endpoint end(ofi, provider, what);
    if (provider == "shm") ofi.unsupported("a process that is killed leaves its shared memory");
    victim other(provider);
    if (!ofi.check(!other.name.empty(), finding::value, "another process cannot open an endpoint of the provider"))
        return;
    fi_addr_t number = FI_ADDR_NOTAVAIL;
    if (!ofi.check(fi_av_insert(end.av.get(), other.name.data(), 1, &number, 0, nullptr) == 1, finding::return_,
                   "fi_av_insert does not take its name"))
        return;
    int const rank = static_cast<int>(end.peers.size()); // as if it were one more
    end.peers.push_back(number);

    if (when != moment::strange) {
        other.meet(end.names[static_cast<std::size_t>(ofi.rank)]);
        auto& in = ofi.incoming(victim::hello_size);
        end.complete(receive(end, true, receive_form::plain, in, rank, victim::hello_tag)).received(victim::hello_size);
    }
    bool const promised = provider.starts_with("assay_"); // docs/design.md; no page of libfabric's says when
    std::vector<operation*> begun;
    auto const post = [&] {
        // A receive that nobody has spoken to the sender of may wait for ever: it may yet come.
        if (when != moment::strange)
            begun.push_back(&receive(end, true, receive_form::plain, ofi.incoming(17), rank, 0xe2));
        // Nobody receives it, and it is too long to be sent without that.
        begun.push_back(send(end, {form::plain, true}, ofi.outgoing(ofi.rank, 3'000'000), rank, 0xe3));
    };
    if (when == moment::before) post();
    for (int n = 0; n < 20; ++n) end.progress();
    other.kill();
    if (when != moment::before) {
        auto const until = std::chrono::steady_clock::now() + std::chrono::milliseconds(100);
        while (std::chrono::steady_clock::now() < until) end.progress();
        post();
    }
    auto const until = std::chrono::steady_clock::now() + death_notice;
    for (auto* one : begun) {
        while (one->said.empty() && std::chrono::steady_clock::now() < until) end.progress();
        auto const* const said = end.look_for(*one, 1);
        ofi.check(promised ? requirement("ofi.peer.gone_promised") : requirement("ofi.peer.gone"),
                  said != nullptr && said->error != 0, finding::error,
                  said != nullptr ? fmt::format("{} with a peer that was killed succeeds", one->name)
                                  : fmt::format("{} with a peer that was killed has not ended after {} s", one->name,
                                                death_notice.count()));
    }
}
