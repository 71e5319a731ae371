// Which message a receive gets: masks, order, probes; and when a synchronous send is complete.
#include "suites/ucx/messages.hpp"

#include <array>
#include <fmt/format.h>

#include "suites/ucx/calls.hpp"

using namespace assay;
using namespace assay::ucx;

namespace {

enum class posting { before, after, between };
axis<posting> const& postings() {
    static axis<posting> const axis("posted", {{{"before", "receives come before the sends"}, posting::before},
                                               {{"after", "sends come before the receives"}, posting::after},
                                               {{"between", "half of the receives come before"}, posting::between}});
    return axis;
}

struct bits {
    ucp_tag_t tag, mask;
};
axis<bits> const& masks() {
    static axis<bits> const axis("mask",
                                 {{{"none", "no bit counts"}, {0, any_bits}},
                                  {{"low", "the lower 32 bits count"}, {0x12345678, 0xffffffff}},
                                  {{"high", "the upper 32 bits count"}, {0x7654321000000000, 0xffffffff00000000}},
                                  {{"one", "one bit counts, the highest"}, {0, ucp_tag_t{1} << 63}},
                                  {{"all", "every bit counts"}, {0x7654321012345678, all_bits}}});
    return axis;
}
constexpr ucp_tag_t whole = 0x7654321012345678; // of the message that each of the masks lets through

// Around the sizes at which transports change how they send.
constexpr std::array<std::size_t, 12> lengths = {8, 70'000, 0, 4096, 17, 300'000, 1, 16'385, 64, 65'536, 200, 9000};

} // namespace

// Messages with equal tags match in the order in which they were sent, whatever their sizes and protocols.
UCX_TEST(order, requirements{"ucx.tag.order", "ucx.tag.data"},
         over(axis_use{&transports()}, axis_use{&send_calls()}, axis_use{&protocols()}, axis_use{&postings()})) {
    auto const when = ucx.at(postings());
    worker w(ucx, ucx.at(transports()), with_protocol(UCP_FEATURE_TAG, ucx.at(protocols())));
    int const many = 2 * static_cast<int>(lengths.size());
    auto const length = [](int n) { return lengths[static_cast<std::size_t>(n) % lengths.size()]; };
    std::vector<std::pair<operation*, buffer*>> posted;
    auto const post = [&](int upto) {
        for (int n = static_cast<int>(posted.size()); n < upto; ++n) {
            auto& in = ucx.incoming(300'000);
            posted.emplace_back(&receive(w, in, 5), &in);
        }
    };
    post(when == posting::before ? many : when == posting::between ? many / 2 : 0);
    w.meet();
    std::vector<operation*> sends;
    for (int n = 0; n < many; ++n)
        sends.push_back(&send(w, ucx.at(send_calls()), ucx.outgoing(w.right(), length(n), n), w.right(), 5));
    post(many);
    for (int n = 0; n < many; ++n) {
        auto [op, in] = posted[static_cast<std::size_t>(n)];
        w.complete(*op).received(length(n));
        ucx.expect(*in, w.left(), length(n), n);
    }
    for (auto* one : sends) w.complete(*one).ok();
    w.finish();
}

// A receive takes the message whose tag agrees in the bits of the mask, and none that differs in one of them.
UCX_TEST(mask, requirements{"ucx.tag.mask", "ucx.tag.info"},
         over(axis_use{&transports()}, axis_use{&masks()}, axis_use{&postings()}, few_sizes()),
         where(postings(), [](posting when) { return when != posting::between; })) {
    auto const bytes = ucx.at(sizes());
    auto const [tag, mask] = ucx.at(masks());
    worker w(ucx, ucx.at(transports()), {});
    auto& in = ucx.incoming(bytes);
    operation* received = nullptr;
    auto const post = [&] { received = &receive(w, in, tag, mask); };
    if (ucx.at(postings()) == posting::before) post();
    w.meet();
    // First those that differ in the lowest and in the highest of the bits that count.
    std::vector<operation*> sends;
    std::vector<ucp_tag_t> others;
    if (mask != any_bits) {
        others = {whole ^ (mask & (~mask + 1)), whole ^ (ucp_tag_t{1} << (63 - __builtin_clzll(mask)))};
        int serial = 1;
        for (auto other : others)
            sends.push_back(&send(w, send_call::send, ucx.outgoing(w.right(), bytes, serial++), w.right(), other));
    }
    sends.push_back(&send(w, send_call::send, ucx.outgoing(w.right(), bytes), w.right(), whole));
    w.meet();
    if (ucx.at(postings()) == posting::after) post();
    w.complete(*received).received(bytes).tag(whole);
    ucx.expect(in, w.left(), bytes);
    int serial = 1;
    for (auto other : others) {
        auto& rest = ucx.incoming(bytes);
        w.complete(receive(w, rest, other)).received(bytes).tag(other);
        ucx.expect(rest, w.left(), bytes, serial++);
    }
    for (auto* one : sends) w.complete(*one).ok();
    w.finish();
}

// Receives are matched in the order in which they were posted, also where one that is more general comes first.
UCX_TEST(receive_order, requirements{"ucx.tag.order", "ucx.tag.mask"}, over(axis_use{&transports()}, few_sizes())) {
    auto const bytes = ucx.at(sizes());
    worker w(ucx, ucx.at(transports()), {});
    constexpr std::array<bits, 4> receives = {
        {{0x10, ~ucp_tag_t{0xf}}, {0x12, all_bits}, {0, any_bits}, {0x12, all_bits}}};
    std::vector<std::pair<operation*, buffer*>> posted;
    for (auto const& r : receives) {
        auto& in = ucx.incoming(bytes);
        posted.emplace_back(&receive(w, in, r.tag, r.mask), &in);
    }
    w.meet();
    std::vector<operation*> sends;
    for (int n = 0; n < 3; ++n)
        sends.push_back(&send(w, send_call::send, ucx.outgoing(w.right(), bytes, n), w.right(), 0x12));
    for (std::size_t n = 0; n < 3; ++n) {
        auto [op, in] = posted[n];
        w.complete(*op).received(bytes).tag(0x12);
        ucx.expect(*in, w.left(), bytes, static_cast<int>(n));
    }
    auto [last, in] = posted[3];
    w.silent(*last);
    w.meet(); // nobody sends the last message before all have looked
    sends.push_back(&send(w, send_call::send, ucx.outgoing(w.right(), bytes, 3), w.right(), 0x12));
    w.complete(*last).received(bytes);
    ucx.expect(*in, w.left(), bytes, 3);
    for (auto* one : sends) w.complete(*one).ok();
    w.finish();
}

// A probe says what is there and leaves it; with `remove` the message belongs to its handle, and to no other receive.
UCX_TEST(probe, requirements{"ucx.probe.leaves", "ucx.probe.removes", "ucx.probe.receive"},
         over(axis_use{&transports()}, axis_use{&protocols()}, axis_use{&completions()}, few_sizes())) {
    auto const bytes = ucx.at(sizes());
    worker w(ucx, ucx.at(transports()), with_protocol(UCP_FEATURE_TAG, ucx.at(protocols())));
    ucp_tag_recv_info_t info{};
    ucx.check(ucp_tag_probe_nb(w.handle, 0, any_bits, 0, &info) == nullptr, finding::request,
              "a probe finds what nobody sent");
    w.meet();
    auto& first = send(w, send_call::send, ucx.outgoing(w.right(), bytes, 0), w.right(), 0x21);
    auto& second = send(w, send_call::send, ucx.outgoing(w.right(), bytes, 1), w.right(), 0x21);
    ucp_tag_message_h message = nullptr;
    for (int look = 0; look < 3; ++look) { // twice it stays
        info = {};
        w.until(
            [&] { return (message = ucp_tag_probe_nb(w.handle, 0x20, ~ucp_tag_t{1}, look == 2, &info)) != nullptr; });
        if (!ucx.check(message != nullptr, finding::request, "a probe does not find what has been sent"))
            throw cannot_go_on{};
        ucx.check(info.length == bytes && info.sender_tag == 0x21, finding::count,
                  fmt::format("a probe says {} bytes and tag {:#x}, sent were {} and 0x21", info.length,
                              info.sender_tag, bytes));
    }
    // The removed one is not for others: this receive gets the second.
    auto& in_second = ucx.incoming(bytes);
    w.complete(receive(w, in_second, 0x21)).received(bytes);
    ucx.expect(in_second, w.left(), bytes, 1);
    auto& in = ucx.incoming(bytes);
    auto& received = w.start("ucp_tag_msg_recv_nbx", kind::tag, ucx.at(completions()));
    if (w.posted(received, ucp_tag_msg_recv_nbx(w.handle, in.address(), bytes, message, &received.param)))
        w.complete(received).received(bytes).tag(0x21);
    ucx.expect(in, w.left(), bytes, 0);
    ucx.check(ucp_tag_probe_nb(w.handle, 0, any_bits, 0, &info) == nullptr, finding::request,
              "a probe finds a message that has been received");
    w.complete(first).ok();
    w.complete(second).ok();
    w.finish();
}

// A synchronous send is complete when a receive has matched, and not before; it always has a request.
UCX_TEST(sync, requirements{"ucx.tag.sync"},
         over(axis_use{&transports()}, axis_use{&protocols()}, axis_use{&postings()}, few_sizes()),
         where(postings(), [](posting when) { return when != posting::between; })) {
    auto const bytes = ucx.at(sizes());
    worker w(ucx, ucx.at(transports()), with_protocol(UCP_FEATURE_TAG, ucx.at(protocols())));
    auto& in = ucx.incoming(bytes);
    operation* received = nullptr;
    bool const early = ucx.at(postings()) == posting::before;
    if (early) received = &receive(w, in, 0x83);
    w.meet();
    auto& sent = send(w, send_call::sync, ucx.outgoing(w.right(), bytes), w.right(), 0x83);
    ucx.check(!sent.at_once, finding::request, "ucp_tag_send_sync_nbx returned no request");
    if (!early) {
        w.meet();
        w.silent(sent);
        w.meet(); // no receive anywhere before all have looked
        received = &receive(w, in, 0x83);
    }
    w.complete(*received).received(bytes);
    ucx.expect(in, w.left(), bytes);
    w.complete(sent).ok();
    w.finish();
}

// A receive that is complete at once has told what it received when the call returns.
UCX_TEST(recv_info, requirements{"ucx.tag.recv_info"}, over(axis_use{&transports()}, few_sizes())) {
    auto const bytes = ucx.at(sizes());
    wish what;
    what.settings = {{"RNDV_THRESH", "inf"}};
    worker w(ucx, ucx.at(transports()), what);
    auto& sent = send(w, send_call::send, ucx.outgoing(w.right(), bytes), w.right(), 0x91);
    ucp_tag_recv_info_t info{};
    bool const there = w.until([&] { return ucp_tag_probe_nb(w.handle, 0x91, all_bits, 0, &info) != nullptr; });
    ucx.check(there, finding::request, "a message that was sent does not arrive");
    w.meet();
    for (int n = 0; n < 200; ++n) w.progress(); // all of its fragments
    auto& in = ucx.incoming(bytes);
    auto& received = receive(w, in, 0x91);
    w.complete(received).ok();
    ucx.check(received.info.length == bytes && received.info.sender_tag == 0x91, finding::count,
              fmt::format("a receive that {} says {} bytes and tag {:#x}, sent were {} and 0x91",
                          received.at_once ? "was complete at once" : "had a request", received.info.length,
                          received.info.sender_tag, bytes));
    ucx.expect(in, w.left(), bytes);
    w.complete(sent).ok();
    w.finish();
}
