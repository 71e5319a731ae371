// Each rank sends to its right neighbour and receives from its left one, with every call for messages.
#include "suites/ofi/messages.hpp"

using namespace assay;
using namespace assay::fabric;

OFI_TEST(ring, requirements{"ofi.msg.data", "ofi.msg.inject_reuse", "ofi.tagged.match", "ofi.cq.fields", "ofi.cq.data"},
         over(axis_use{&providers()}, axis_use{&send_ways()}, axis_use{&receive_ways()}, axis_use{&sizes()},
              axis_use{&placements()})) {
    auto const way = ofi.at(send_ways());
    auto const bytes = ofi.at(sizes());
    endpoint end(ofi, ofi.at(providers()), needs_of(way, bytes));
    constexpr std::uint64_t tag = 0x7654;
    auto& in = ofi.incoming(bytes);
    auto& received = receive(end, way.tagged, ofi.at(receive_ways()), in, -1, tag);
    auto& out = ofi.outgoing(ofi.right(), bytes);
    auto* const sent = send(end, way, out, ofi.right(), tag);
    if (sent != nullptr) {
        end.complete(*sent).sent();
        out.expect_unchanged();
    } else {
        out.poison(); // the call has returned: the buffer is the program's again
    }
    auto said = end.complete(received);
    said.received(bytes);
    if (way.tagged) said.tag(tag);
    if (way.data()) said.data(immediate);
    else said.no_data();
    ofi.expect(in, ofi.left(), bytes);
    end.finish();
}
