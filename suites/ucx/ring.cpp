// Each rank sends to its right neighbour and receives from its left one, over every protocol and with every way to complete.
#include "suites/ucx/messages.hpp"

using namespace assay;
using namespace assay::ucx;

UCX_TEST(ring,
         requirements{"ucx.tag.data", "ucx.tag.info", "ucx.request.completion", "ucx.request.callback",
                      "ucx.request.own"},
         over(axis_use{&transports()}, axis_use{&send_calls()}, axis_use{&completions()}, axis_use{&protocols()},
              axis_use{&shapes()}, axis_use{&sizes()}, axis_use{&placements()})) {
    auto const bytes = ucx.at(sizes());
    auto const how = ucx.at(completions());
    auto const form = ucx.at(shapes());
    worker w(ucx, ucx.at(transports()), with_protocol(UCP_FEATURE_TAG, ucx.at(protocols())));
    constexpr ucp_tag_t tag = 0x7654321012345678;
    auto& in = ucx.incoming(bytes);
    auto& received = receive(w, in, tag, all_bits, how, form);
    auto& out = ucx.outgoing(w.right(), bytes);
    auto& sent = send(w, ucx.at(send_calls()), out, w.right(), tag, how, form);
    w.complete(sent).ok();
    out.expect_unchanged();
    out.poison(); // it is safe to reuse the buffer
    w.complete(received).received(bytes).tag(tag);
    ucx.expect(in, w.left(), bytes);
    w.finish();
}
