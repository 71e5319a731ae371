// Receives that do not get what they were posted for: messages that are too long, requests that are taken back or given away.
#include "suites/ucx/messages.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "suites/ucx/calls.hpp"

using namespace assay;
using namespace assay::ucx;

namespace {

struct overrun {
    std::size_t sent, room;
};
axis<overrun> const& overruns() {
    static axis<overrun> const axis("overrun", {{{"one_byte", "18 bytes where 17 fit"}, {18, 17}},
                                                {{"no_room", "5 bytes where none fit"}, {5, 0}},
                                                {{"half", "8,192 bytes where 4,096 fit"}, {8192, 4096}},
                                                {{"long", "200,000 bytes where 100 fit"}, {200'000, 100}}});
    return axis;
}

} // namespace

UCX_TEST(truncation, requirements{"ucx.tag.truncation"},
         over(axis_use{&transports()}, axis_use{&protocols()}, axis_use{&completions()}, axis_use{&overruns()})) {
    auto const [bytes, room] = ucx.at(overruns());
    auto const how = ucx.at(completions());
    worker w(ucx, ucx.at(transports()), with_protocol(UCP_FEATURE_TAG, ucx.at(protocols())));
    auto& in = ucx.incoming(room);
    auto& received = receive(w, in, 0x51, all_bits, how);
    auto& after = ucx.incoming(17);
    auto& next = receive(w, after, 0x51, all_bits, how);
    w.meet();
    auto& sent = send(w, send_call::send, ucx.outgoing(w.right(), bytes), w.right(), 0x51);
    auto& again = send(w, send_call::send, ucx.outgoing(w.right(), 17, 1), w.right(), 0x51);
    auto const said = w.complete(received).status(UCS_ERR_MESSAGE_TRUNCATED);
    // What fits may be there or not; nothing may be written after it.
    if (said && !in.holds(std::span<segment const>()))
        in.expect(ucx.key(w.left(), ucx.rank), room, "of a message that is too long");
    w.complete(next).received(17); // the worker works on
    ucx.expect(after, w.left(), 17, 1);
    w.complete(again).ok();
    w.complete(sent); // whether the sender hears of it, the header leaves open; it must end
    w.finish();
}

// A receive that is cancelled ends so, and the message goes to the next one; one that is complete stays so.
UCX_TEST(cancel, requirements{"ucx.request.cancel"},
         over(axis_use{&transports()}, axis_use{&completions()}, few_sizes())) {
    auto const bytes = ucx.at(sizes());
    auto const how = ucx.at(completions());
    worker w(ucx, ucx.at(transports()), {});
    auto& in = ucx.incoming(bytes);
    auto& first = receive(w, in, 0x52, all_bits, how);
    auto& in_second = ucx.incoming(bytes);
    auto& second = receive(w, in_second, 0x52, all_bits, how);
    ucp_request_cancel(w.handle, first.request);
    w.complete(first).status(UCS_ERR_CANCELED);
    w.meet();
    auto& sent = send(w, send_call::send, ucx.outgoing(w.right(), bytes), w.right(), 0x52);
    if (w.until([&] { return w.ended(second); })) ucp_request_cancel(w.handle, second.request);
    w.complete(second).received(bytes);
    ucx.expect(in_second, w.left(), bytes);
    in.expect_untouched();
    w.complete(sent).ok();
    w.finish();
}

// A request that is freed early goes on, and its callback does not come any more.
UCX_TEST(request_free, requirements{"ucx.request.free"}, over(axis_use{&transports()}, few_sizes())) {
    auto const bytes = ucx.at(sizes());
    worker w(ucx, ucx.at(transports()), {});
    auto& in = ucx.incoming(bytes);
    auto& freed = receive(w, in, 0x53, all_bits, completion::callback);
    ucp_request_free(freed.request);
    freed.request = nullptr;
    auto& in_next = ucx.incoming(bytes);
    auto& next = receive(w, in_next, 0x53);
    w.meet();
    auto& first = send(w, send_call::send, ucx.outgoing(w.right(), bytes, 0), w.right(), 0x53);
    auto& second = send(w, send_call::send, ucx.outgoing(w.right(), bytes, 1), w.right(), 0x53);
    w.complete(next).received(bytes);
    ucx.expect(in_next, w.left(), bytes, 1);
    w.complete(first).ok();
    w.complete(second).ok();
    w.meet();
    ucx.expect(in, w.left(), bytes, 0);
    ucx.check(freed.calls == 0, finding::request, "the callback of a request came that had been freed");
    w.finish();
}

// A request from ucp_request_alloc serves an operation like one of the program's own memory.
UCX_TEST(request_alloc, requirements{"ucx.request.alloc"}, over(axis_use{&transports()})) {
    worker w(ucx, ucx.at(transports()), {});
    void* const request = ucp_request_alloc(w.handle);
    if (ucx.check(request != nullptr, finding::return_, "ucp_request_alloc returned no request")) {
        auto& in = ucx.incoming(17);
        auto& received = w.start("ucp_tag_recv_nbx", kind::tag);
        received.param.op_attr_mask |= UCP_OP_ATTR_FIELD_REQUEST;
        received.param.request = request;
        w.posted(received, ucp_tag_recv_nbx(w.handle, in.address(), 17, 0x54, all_bits, &received.param));
        ucx.check(received.request == request, finding::request,
                  "ucp_tag_recv_nbx was given a request and returned another one");
        auto& sent = send(w, send_call::send, ucx.outgoing(w.right(), 17), w.right(), 0x54);
        w.complete(received).received(17);
        ucx.expect(in, w.left(), 17);
        w.complete(sent).ok();
    }
    w.finish();
}
