// Keller: "Ring" in all its modes — each rank sends to its right neighbour and receives from its left one.
#include "suites/p2p/exchange.hpp"
#include "suites/p2p/pair.hpp"

using namespace assay;
using namespace assay::p2p;

ASSAY_TEST(p2p, ring,
           requirements{"p2p.send.data", "p2p.modes", "p2p.status.fields", "p2p.status.error_field", "p2p.completion",
                        "p2p.persistent.restart", "p2p.send.buffer_unchanged"},
           over(axis_use{&modes()}, axis_use{&receives()}, axis_use{&completions()}, communicators::intra(),
                datatypes::all(), counts::ladder(), placements::all()),
           sensible_receive(), sensible_completion(), blocking_needs_two(), fits_memory(false), thread_safe{}) {
    exchange(mpi, ring(mpi), {mpi.at(modes()), mpi.at(receives()), mpi.at(completions())});
}

// Keller: "Ring same value" — a message that went to the wrong rank cannot be told by its data here, but by nothing else
// being wrong: it sees what depends on the bytes that are sent.
ASSAY_TEST(p2p, ring_same_value, requirements{"p2p.send.data"},
           over(axis_use{&modes()}, communicators::intra(), datatypes::all(), counts::ladder(), placements::all()),
           fits_memory(false), note{"all ranks send the same bytes"}, thread_safe{}) {
    manner how{mpi.at(modes()), receive_way::irecv, completion_by("wait")};
    how.same_value = true;
    exchange(mpi, ring(mpi), how);
}

// The two ends describe the message in different ways, or in the same one that is not the plain one.
ASSAY_TEST(p2p, ring_layouts,
           requirements{"p2p.types.signature", "p2p.send.data", "p2p.modes", "p2p.persistent.restart",
                        "p2p.send.buffer_unchanged"},
           over(axis_use{&sent_as()}, axis_use{&received_as()}, axis_use{&modes()}, axis_use{&receives()},
                axis_use{&completions()}, communicators::few(), described_types(), described_counts(),
                placements::all()),
           sensible_receive(), sensible_completion(), blocking_needs_two(), fits_memory(false),
           note{"messages of six times as many elements as `count` says"}, thread_safe{}) {
    described const sent(mpi, mpi.at(sent_as())), received(mpi, mpi.at(received_as()));
    manner how{mpi.at(modes()), mpi.at(receives()), mpi.at(completions())};
    how.sent = &sent;
    how.received = &received;
    exchange(mpi, mpi.inter ? partner(mpi) : ring(mpi), how);
}
