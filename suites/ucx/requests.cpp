// Operations that must not be complete when their call returns.
#include "suites/ucx/messages.hpp"

#include <fmt/format.h>

#include "suites/ucx/calls.hpp"

using namespace assay;
using namespace assay::ucx;

namespace {

enum class call { tag_send, tag_receive, stream_send, stream_receive, put, get, flush };
axis<call> const& calls() {
    static axis<call> const axis("call", {{{"tag_send", "ucp_tag_send_nbx"}, call::tag_send},
                                          {{"tag_receive", "ucp_tag_recv_nbx"}, call::tag_receive},
                                          {{"stream_send", "ucp_stream_send_nbx"}, call::stream_send},
                                          {{"stream_receive", "ucp_stream_recv_nbx"}, call::stream_receive},
                                          {{"put", "ucp_put_nbx"}, call::put},
                                          {{"get", "ucp_get_nbx"}, call::get},
                                          {{"flush", "ucp_worker_flush_nbx"}, call::flush}});
    return axis;
}

axis_use no_or_some() {
    return only(sizes(), [](std::size_t n) { return n == 0 || n == 17; });
}

} // namespace

// With UCP_OP_ATTR_FLAG_NO_IMM_CMPL there is a request, whatever the operation has to do.
UCX_TEST(never_at_once, requirements{"ucx.request.never_at_once"},
         over(axis_use{&transports()}, axis_use{&calls()}, no_or_some()),
         where(calls(), sizes(), [](call what, std::size_t bytes) {
             return bytes > 0 || (what != call::stream_send && what != call::stream_receive && what != call::flush);
         })) {
    auto const what = ucx.at(calls());
    auto const bytes = ucx.at(sizes());
    std::string const what_is_called = calls().info(static_cast<std::size_t>(what)).note;
    wish features;
    features.features = what == call::tag_send || what == call::tag_receive         ? UCP_FEATURE_TAG
                        : what == call::stream_send || what == call::stream_receive ? UCP_FEATURE_STREAM
                                                                                    : UCP_FEATURE_RMA;
    worker w(ucx, ucx.at(transports()), features);
    auto const ep = w.to(w.right());
    auto& memory = ucx.incoming(4096);
    auto& local = ucx.incoming(bytes);
    remote_memory there;
    if (features.features == UCP_FEATURE_RMA) {
        auto const all = w.exchange(w.pack(w.map(memory.address(), 4096)));
        there = w.unpack(w.right(), all[static_cast<std::size_t>(w.right())]);
    }
    auto& op = w.start(what_is_called.c_str(),
                       what == call::tag_receive      ? kind::tag
                       : what == call::stream_receive ? kind::stream
                                                      : kind::send,
                       completion::never_at_once);
    ucs_status_ptr_t returned = nullptr;
    switch (what) {
    case call::tag_send: returned = ucp_tag_send_nbx(ep, local.address(), bytes, 1, &op.param); break;
    case call::tag_receive: {
        auto& sent = send(w, send_call::send, local, w.right(), 1);
        ucp_tag_recv_info_t info{};
        w.until([&] { return ucp_tag_probe_nb(w.handle, 1, all_bits, 0, &info) != nullptr; });
        returned = ucp_tag_recv_nbx(w.handle, memory.address(), bytes, 1, all_bits, &op.param);
        w.complete(sent).ok();
        break;
    }
    case call::stream_send: returned = ucp_stream_send_nbx(ep, local.address(), bytes, &op.param); break;
    case call::stream_receive: {
        auto& sent = w.start("ucp_stream_send_nbx");
        w.posted(sent, ucp_stream_send_nbx(ep, local.address(), bytes, &sent.param));
        ucp_stream_poll_ep_t ready{};
        w.until([&] { return ucp_stream_worker_poll(w.handle, &ready, 1, 0) == 1; });
        returned = ucp_stream_recv_nbx(w.to(w.left()), memory.address(), bytes, &op.length, &op.param);
        w.complete(sent).ok();
        break;
    }
    case call::put: returned = ucp_put_nbx(ep, local.address(), bytes, there.address, there.key, &op.param); break;
    case call::get: returned = ucp_get_nbx(ep, local.address(), bytes, there.address, there.key, &op.param); break;
    case call::flush: returned = ucp_worker_flush_nbx(w.handle, &op.param); break;
    }
    w.posted(op, returned);
    ucx.check(!op.at_once, finding::request, fmt::format("{} returned no request", what_is_called));
    w.complete(op).ok();
    if (what == call::tag_send) w.complete(receive(w, memory, 1)).ok();
    w.finish();
}
