// Streams: bytes between two endpoints in order, without the borders of messages.
#include "suites/ucx/messages.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <fmt/format.h>

#include "suites/ucx/calls.hpp"

using namespace assay;
using namespace assay::ucx;

namespace {

wish stream_only() {
    wish what;
    what.features = UCP_FEATURE_STREAM;
    return what;
}

operation& stream_send(worker& w, void const* bytes, std::size_t size, completion how = completion::poll) {
    auto& op = w.start("ucp_stream_send_nbx", kind::send, how);
    w.posted(op, ucp_stream_send_nbx(w.to(w.right()), bytes, size, &op.param));
    return op;
}

struct piece {
    std::size_t size; // of an element
    std::size_t count;
};
axis<piece> const& pieces() {
    static axis<piece> const axis("piece", {{{"byte", "one byte"}, {1, 1}},
                                            {{"bytes", "700 bytes"}, {1, 700}},
                                            {{"element", "one element of 8 bytes"}, {8, 1}},
                                            {{"elements", "100 elements of 8 bytes"}, {8, 100}},
                                            {{"all", "all elements of 8 bytes at once"}, {8, 4000}}});
    return axis;
}

axis<bool> const& wait_all() {
    static axis<bool> const axis(
        "flags", {{{"none", "as much as there is"}, false}, {{"wait_all", "UCP_STREAM_RECV_FLAG_WAITALL"}, true}});
    return axis;
}

} // namespace

UCX_TEST(stream_ring, requirements{"ucx.stream.data", "ucx.stream.wait_all", "ucx.request.completion"},
         over(axis_use{&transports()}, axis_use{&completions()}, axis_use{&sizes()}, axis_use{&placements()}),
         where(sizes(), [](std::size_t bytes) { return bytes > 0; })) {
    auto const bytes = ucx.at(sizes());
    auto const how = ucx.at(completions());
    worker w(ucx, ucx.at(transports()), stream_only());
    auto& in = ucx.incoming(bytes);
    auto& received = w.start("ucp_stream_recv_nbx", kind::stream, how);
    received.param.op_attr_mask |= UCP_OP_ATTR_FIELD_FLAGS;
    received.param.flags = UCP_STREAM_RECV_FLAG_WAITALL;
    w.posted(received, ucp_stream_recv_nbx(w.to(w.left()), in.address(), bytes, &received.length, &received.param));
    auto& out = ucx.outgoing(w.right(), bytes);
    auto& sent = stream_send(w, out.address(), bytes, how);
    w.complete(sent).ok();
    out.expect_unchanged();
    out.poison();
    w.complete(received).received(bytes);
    ucx.expect(in, w.left(), bytes);
    w.finish();
}

namespace {

constexpr std::size_t total = 32'000;
using fragments = std::array<std::size_t, 7>;

// Sends `total` bytes in these fragments and receives as the axes say.
void through_a_stream(native_run& ucx, fragments const& sizes_sent) {
    auto const [element, count] = ucx.at(pieces());
    bool const all = ucx.at(wait_all());
    std::size_t const bytes = element * count == 1 ? 600 : total; // byte by byte that would take long
    worker w(ucx, ucx.at(transports()), stream_only());
    auto& out = ucx.outgoing(w.right(), total);
    std::vector<operation*> sends;
    for (std::size_t at = 0; std::size_t size : sizes_sent) {
        sends.push_back(&stream_send(w, static_cast<char*>(out.address()) + at, size));
        at += size;
    }
    auto& in = ucx.incoming(total);
    std::size_t at = 0;
    while (at < bytes) {
        std::size_t const room = std::min(element * count, total - at);
        auto& op = w.start("ucp_stream_recv_nbx", kind::stream, ucx.at(completions()));
        op.param.op_attr_mask |= UCP_OP_ATTR_FIELD_DATATYPE | UCP_OP_ATTR_FIELD_FLAGS;
        op.param.datatype = ucp_dt_make_contig(element);
        op.param.flags = all ? UCP_STREAM_RECV_FLAG_WAITALL : 0;
        if (!w.posted(op, ucp_stream_recv_nbx(w.to(w.left()), static_cast<char*>(in.address()) + at, room / element,
                                              &op.length, &op.param)) ||
            !w.complete(op).ok())
            break;
        at += std::min(op.length, room);
        if (!ucx.check(op.length > 0 && op.length <= room && op.length % element == 0 && (!all || op.length == room),
                       finding::count,
                       fmt::format("a receive of {} elements of {} bytes{} got {} bytes", room / element, element,
                                   all ? " with WAITALL" : "", op.length)))
            break;
    }
    if (at >= bytes) in.expect(ucx.key(w.left(), ucx.rank), at, "through the stream");
    // What was not read is thrown away, so that the stream is empty at the end.
    auto& rest = ucx.incoming(total);
    for (std::size_t left = total - at; left > 0;) {
        auto& op = w.start("ucp_stream_recv_nbx", kind::stream);
        if (!w.posted(op, ucp_stream_recv_nbx(w.to(w.left()), rest.address(), left, &op.length, &op.param)) ||
            !w.complete(op).ok())
            break;
        left -= std::min(left, op.length);
    }
    for (auto* one : sends) w.complete(*one).ok();
    w.finish();
}

} // namespace

// What was sent in pieces of some sizes arrives in pieces of others, in order.
UCX_TEST(stream_pieces, requirements{"ucx.stream.order", "ucx.stream.wait_all"},
         over(axis_use{&transports()}, axis_use{&pieces()}, axis_use{&wait_all()}, axis_use{&completions()})) {
    through_a_stream(ucx, {24, 8, 4096, 11'904, 64, 40, 15'864});
}

// Whole elements come, also where they were sent in parts.
UCX_TEST(stream_elements, requirements{"ucx.stream.elements"},
         over(axis_use{&transports()}, only(pieces(), [](piece one) { return one.size > 1; }), axis_use{&wait_all()},
              axis_use{&completions()})) {
    through_a_stream(ucx, {3, 1, 4096, 11'900, 8, 5, 15'987});
}

// Data in UCX's own buffers: what is there, until all is; the worker says which endpoints have some.
UCX_TEST(stream_data, requirements{"ucx.stream.recv_data", "ucx.stream.poll", "ucx.stream.order"},
         over(axis_use{&transports()},
              only(sizes(), [](std::size_t n) { return n == 1 || n == 17 || n == 65539 || n == 1048576; }))) {
    auto const bytes = ucx.at(sizes());
    worker w(ucx, ucx.at(transports()), stream_only());
    std::size_t length = 4711;
    ucx.check(ucp_stream_recv_data_nb(w.to(w.left()), &length) == nullptr, finding::return_,
              "ucp_stream_recv_data_nb finds what nobody sent");
    w.meet();
    auto& sent = stream_send(w, ucx.outgoing(w.right(), bytes).address(), bytes);
    auto& in = ucx.incoming(bytes);
    bool polled = false;
    std::size_t at = 0;
    w.until([&] {
        ucp_stream_poll_ep_t ready{};
        ssize_t const n = ucp_stream_worker_poll(w.handle, &ready, 1, 0);
        if (n == 0) return false;
        if (!ucx.check(n == 1 && ready.ep == w.to(w.left()) && ready.user_data == &w, finding::value,
                       fmt::format("ucp_stream_worker_poll returned {} and an endpoint that is not that of the sender",
                                   error_text(n))))
            return true;
        polled = true;
        // All that is there: the worker names an endpoint again only when more has come.
        while (auto* const data = ucp_stream_recv_data_nb(w.to(w.left()), &length)) {
            if (!ucx.check(!UCS_PTR_IS_ERR(data) && length > 0 && at + length <= bytes, finding::count,
                           fmt::format("{} bytes have come, and now {}; sent were {}", at, length, bytes)))
                return true;
            std::memcpy(static_cast<char*>(in.address()) + at, data, length);
            ucp_stream_data_release(w.to(w.left()), data);
            at += length;
        }
        return at == bytes;
    });
    ucx.check(polled, finding::value, "ucp_stream_worker_poll names no endpoint, though one has data");
    ucx.expect(in, w.left(), bytes);
    w.complete(sent).ok();
    w.meet();
    ucx.check(ucp_stream_recv_data_nb(w.to(w.left()), &length) == nullptr, finding::leftover,
              "more came than was sent");
    w.finish();
}
