// Many messages at once: to one rank, to all, to oneself, and more than there is room for.
#include "suites/ofi/messages.hpp"

#include <fmt/format.h>

using namespace assay;
using namespace assay::fabric;

namespace {

axis_use plain_and_inject() {
    return only(send_ways(), [](send_way way) { return way.how == form::plain || way.how == form::inject; });
}

void complete_sends(endpoint& end, std::vector<operation*> const& sends) {
    for (auto* one : sends)
        if (one != nullptr) end.complete(*one).sent();
}

} // namespace

// Rank 0 receives from anybody; who it was stands in the completion (FI_SOURCE).
OFI_TEST(many_to_one, requirements{"ofi.msg.data", "ofi.cq.source", "ofi.cq.fields"},
         over(axis_use{&providers()}, plain_and_inject(), few_sizes())) {
    constexpr int each = 5;
    auto const way = ofi.at(send_ways());
    auto const bytes = ofi.at(sizes());
    auto what = needs_of(way, bytes);
    what.caps |= FI_SOURCE;
    what.order = FI_ORDER_SAS;
    endpoint end(ofi, ofi.at(providers()), what);
    if (ofi.rank == 0) {
        std::vector<int> seen(static_cast<std::size_t>(ofi.size));
        std::vector<std::pair<operation*, buffer*>> posted;
        for (int n = 0; n < each * (ofi.size - 1); ++n) {
            auto& in = ofi.incoming(bytes);
            posted.emplace_back(&receive(end, way.tagged, receive_form::plain, in, -1, 7), &in);
        }
        for (auto [op, in] : posted) {
            auto const said = end.complete(*op).received(bytes);
            if (!said) continue;
            int from = 1;
            while (from < ofi.size && end.peers[static_cast<std::size_t>(from)] != said->source) ++from;
            if (!ofi.check(
                    from < ofi.size, finding::source,
                    fmt::format("a completion says that it is from {:#x}, which is no other rank", said->source)))
                continue;
            ofi.expect(*in, from, bytes,
                       seen[static_cast<std::size_t>(from)]++); // in the order in which they were sent
        }
    } else {
        std::vector<operation*> sends;
        for (int n = 0; n < each; ++n) sends.push_back(send(end, way, ofi.outgoing(0, bytes, n), 0, 7));
        complete_sends(end, sends);
    }
    end.finish();
}

OFI_TEST(all_to_all, requirements{"ofi.msg.data", "ofi.tagged.match"},
         over(axis_use{&providers()}, only(send_ways(), [](send_way way) { return way.tagged; }), few_sizes())) {
    auto const way = ofi.at(send_ways());
    auto const bytes = ofi.at(sizes());
    endpoint end(ofi, ofi.at(providers()), needs_of(way, bytes));
    std::vector<std::pair<operation*, buffer*>> posted;
    for (int from = 0; from < ofi.size; ++from) {
        auto& in = ofi.incoming(bytes);
        posted.emplace_back(&receive(end, true, receive_form::plain, in, -1, static_cast<std::uint64_t>(from)), &in);
    }
    std::vector<operation*> sends;
    for (int n = 0; n < ofi.size; ++n) {
        int const to = (ofi.rank + n) % ofi.size;
        sends.push_back(send(end, way, ofi.outgoing(to, bytes), to, static_cast<std::uint64_t>(ofi.rank)));
    }
    for (int from = 0; from < ofi.size; ++from) {
        auto [op, in] = posted[static_cast<std::size_t>(from)];
        end.complete(*op).received(bytes).tag(static_cast<std::uint64_t>(from));
        ofi.expect(*in, from, bytes);
    }
    complete_sends(end, sends);
    end.finish();
}

OFI_TEST(self, requirements{"ofi.msg.self"}, over(axis_use{&providers()}, axis_use{&send_ways()}, few_sizes())) {
    auto const way = ofi.at(send_ways());
    auto const bytes = ofi.at(sizes());
    auto what = needs_of(way, bytes);
    what.caps |= FI_LOCAL_COMM;
    endpoint end(ofi, ofi.at(providers()), what);
    auto& in = ofi.incoming(bytes);
    auto& received = receive(end, way.tagged, receive_form::plain, in, -1, 3);
    auto* const sent = send(end, way, ofi.outgoing(ofi.rank, bytes), ofi.rank, 3);
    end.complete(received).received(bytes);
    if (sent != nullptr) end.complete(*sent).sent();
    ofi.expect(in, ofi.rank, bytes);
    end.finish();
}

// All messages are on their way before a receive is posted: what does not fit has to wait (FI_RM_ENABLED), not to get lost.
OFI_TEST(unexpected, requirements{"ofi.resources", "ofi.msg.data"},
         over(axis_use{&providers()}, plain_and_inject(), few_sizes())) {
    auto const way = ofi.at(send_ways());
    auto const bytes = ofi.at(sizes());
    int const many = bytes > 1024 ? 64 : 400;
    auto what = needs_of(way, bytes);
    what.order = FI_ORDER_SAS;
    endpoint end(ofi, ofi.at(providers()), what);
    if (end.info->domain_attr->resource_mgmt == FI_RM_DISABLED)
        ofi.unsupported(
            fmt::format("{} leaves it to programs not to send too much (FI_RM_DISABLED)", ofi.at(providers())));
    // As many as the provider takes; the rest when there are receives.
    std::vector<operation*> sends;
    auto& out = ofi.outgoing(ofi.right(), bytes);
    int const early = std::min<int>(many, 32);
    for (int n = 0; n < early; ++n) sends.push_back(send(end, way, out, ofi.right(), 9));
    end.meet();
    std::vector<std::pair<operation*, buffer*>> posted;
    for (int n = 0; n < many; ++n) {
        auto& in = ofi.incoming(bytes);
        posted.emplace_back(&receive(end, way.tagged, receive_form::plain, in, -1, 9), &in);
    }
    for (int n = early; n < many; ++n) sends.push_back(send(end, way, out, ofi.right(), 9));
    for (auto [op, in] : posted) {
        end.complete(*op).received(bytes);
        ofi.expect(*in, ofi.left(), bytes);
    }
    complete_sends(end, sends);
    end.finish();
}
