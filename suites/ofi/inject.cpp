// Small messages whose buffer belongs to the program again when the call returns.
#include "suites/ofi/messages.hpp"

#include <fmt/format.h>

#include "suites/ofi/calls.hpp"

using namespace assay;
using namespace assay::fabric;

// As long as the provider says, as many as it takes, each from the same buffer, which is overwritten at once.
OFI_TEST(inject_limit, requirements{"ofi.msg.inject_reuse", "ofi.inject.size"},
         over(axis_use{&providers()}, only(send_ways(), [](send_way way) { return way.how == form::inject; }))) {
    constexpr int many = 40;
    auto const way = ofi.at(send_ways());
    auto what = needs_of(way, 1);
    what.order = FI_ORDER_SAS;
    endpoint end(ofi, ofi.at(providers()), what);
    std::size_t const bytes = std::min<std::size_t>(end.info->tx_attr->inject_size, 65536);
    auto& out = ofi.outgoing(ofi.right(), bytes);
    for (int n = 0; n < many; ++n) {
        out.fill(ofi.key(ofi.rank, ofi.right(), n));
        send(end, way, out, ofi.right(), 6);
        out.poison();
    }
    end.meet(); // they may be anywhere now
    for (int n = 0; n < many; ++n) {
        auto& in = ofi.incoming(bytes);
        end.complete(receive(end, way.tagged, receive_form::plain, in, -1, 6)).received(bytes);
        ofi.expect(in, ofi.left(), bytes, n);
    }
    end.finish();
}

// The flag FI_INJECT: the same for the buffer, but there is a completion.
OFI_TEST(inject_flag, requirements{"ofi.inject.flag"},
         over(axis_use{&providers()}, only(send_ways(), [](send_way way) { return way.how == form::message; }),
              only(sizes(), [](std::size_t n) { return n <= 64; }))) {
    auto const way = ofi.at(send_ways());
    auto const bytes = ofi.at(sizes());
    auto what = needs_of(way, bytes);
    what.inject = std::max<std::size_t>(bytes, 1);
    endpoint end(ofi, ofi.at(providers()), what);
    auto& out = ofi.outgoing(ofi.right(), bytes);
    auto& op = end.start(way.tagged ? "fi_tsendmsg" : "fi_sendmsg");
    iovec const piece{out.address(), bytes};
    void* descriptor = nullptr; // ignored with FI_INJECT
    auto const to = end.peers[static_cast<std::size_t>(ofi.right())];
    fi_msg const message{&piece, &descriptor, 1, to, &op, 0};
    fi_msg_tagged const tagged{&piece, &descriptor, 1, to, 6, 0, &op, 0};
    bool const went = end.post([&] {
        return way.tagged ? fi_tsendmsg(end.ep.get(), &tagged, FI_INJECT | FI_COMPLETION)
                          : fi_sendmsg(end.ep.get(), &message, FI_INJECT | FI_COMPLETION);
    });
    out.poison();
    auto& in = ofi.incoming(bytes);
    auto& received = receive(end, way.tagged, receive_form::plain, in, -1, 6);
    end.complete(received).received(bytes);
    ofi.expect(in, ofi.left(), bytes);
    if (went) end.complete(op).sent();
    end.finish();
}
