// Many messages at once: to one rank, to all, to oneself, and before there is a receive for them.
#include "suites/ucx/messages.hpp"

#include <fmt/format.h>

using namespace assay;
using namespace assay::ucx;

// Rank 0 receives from anybody; who it was stands in the tag, which the mask leaves open.
UCX_TEST(many_to_one, requirements{"ucx.tag.data", "ucx.tag.mask", "ucx.tag.info", "ucx.tag.order"},
         over(to_others(), axis_use{&send_calls()}, axis_use{&protocols()}, few_sizes())) {
    constexpr int each = 5;
    auto const bytes = ucx.at(sizes());
    worker w(ucx, ucx.at(transports()), with_protocol(UCP_FEATURE_TAG, ucx.at(protocols())));
    constexpr ucp_tag_t base = 0xab00000000000000, of_rank = 0xffff;
    if (ucx.rank == 0) {
        std::vector<std::pair<operation*, buffer*>> posted;
        for (int n = 0; n < each * (ucx.size - 1); ++n) {
            auto& in = ucx.incoming(bytes);
            posted.emplace_back(&receive(w, in, base, ~of_rank, completion::never_at_once), &in);
        }
        std::vector<int> seen(static_cast<std::size_t>(ucx.size));
        for (auto [op, in] : posted) {
            auto const said = w.complete(*op).received(bytes);
            if (!said) continue;
            auto const from = static_cast<int>(said->info.sender_tag & of_rank);
            if (ucx.check(from > 0 && from < ucx.size && (said->info.sender_tag & ~of_rank) == base, finding::source,
                          fmt::format("a message has the tag {:#x}, which no rank sent", said->info.sender_tag)))
                ucx.expect(*in, from, bytes, seen[static_cast<std::size_t>(from)]++);
        }
    } else {
        std::vector<operation*> sends;
        for (int n = 0; n < each; ++n)
            sends.push_back(
                &send(w, ucx.at(send_calls()), ucx.outgoing(0, bytes, n), 0, base | static_cast<ucp_tag_t>(ucx.rank)));
        for (auto* one : sends) w.complete(*one).ok();
    }
    w.finish();
}

UCX_TEST(all_to_all, requirements{"ucx.tag.data", "ucx.tag.info"},
         over(to_others(), axis_use{&send_calls()}, axis_use{&completions()}, few_sizes())) {
    auto const bytes = ucx.at(sizes());
    auto const how = ucx.at(completions());
    worker w(ucx, ucx.at(transports()), {});
    std::vector<std::pair<operation*, buffer*>> posted;
    for (int from = 0; from < ucx.size; ++from) {
        auto& in = ucx.incoming(bytes);
        posted.emplace_back(&receive(w, in, static_cast<ucp_tag_t>(from), all_bits, how), &in);
    }
    std::vector<operation*> sends;
    for (int n = 0; n < ucx.size; ++n) {
        int const to = (ucx.rank + n) % ucx.size;
        if (to == ucx.rank) continue;
        sends.push_back(
            &send(w, ucx.at(send_calls()), ucx.outgoing(to, bytes), to, static_cast<ucp_tag_t>(ucx.rank), how));
    }
    for (int from = 0; from < ucx.size; ++from) {
        auto [op, in] = posted[static_cast<std::size_t>(from)];
        if (from == ucx.rank) { // nobody sent this one
            w.silent(*op);
            continue;
        }
        w.complete(*op).received(bytes).tag(static_cast<ucp_tag_t>(from));
        ucx.expect(*in, from, bytes);
    }
    for (auto* one : sends) w.complete(*one).ok();
    w.finish();
}

// All messages are on their way before a receive is posted.
UCX_TEST(unexpected, requirements{"ucx.tag.data", "ucx.tag.order"},
         over(axis_use{&transports()}, axis_use{&protocols()}, axis_use{&completions()}, few_sizes())) {
    auto const bytes = ucx.at(sizes());
    int const many = bytes > 1024 ? 24 : 200;
    worker w(ucx, ucx.at(transports()), with_protocol(UCP_FEATURE_TAG, ucx.at(protocols())));
    std::vector<operation*> sends;
    for (int n = 0; n < many; ++n)
        sends.push_back(&send(w, send_call::send, ucx.outgoing(w.right(), bytes, n), w.right(), 9));
    w.meet();
    for (int n = 0; n < many; ++n) {
        auto& in = ucx.incoming(bytes);
        w.complete(receive(w, in, 9, all_bits, ucx.at(completions()))).received(bytes).tag(9);
        ucx.expect(in, w.left(), bytes, n);
    }
    for (auto* one : sends) w.complete(*one).ok();
    w.finish();
}
