// Keller: "Many-to-one", with MPI_Probe, with MPI_Iprobe — everybody sends three messages to rank 0, whose receives may
// be open for any source or tag; messages of one sender must not overtake each other (MPI-5.0 section 3.5).
#include "suites/p2p/exchange.hpp"

using namespace assay;
using namespace assay::p2p;

ASSAY_TEST(p2p, many_to_one,
           requirements{"p2p.order.non_overtaking", "p2p.wildcard.source", "p2p.wildcard.tag", "p2p.probe.status"},
           over(axis_use{&modes()}, axis_use{&receives()}, axis_use{&wildcard_axis()}, communicators::usable(),
                datatypes::all(), counts::ladder(), placements::all()),
           sensible_receive(), blocking_needs_two(), fits_memory(true),
           // The empty message that announces a posted receive would be taken by MPI_ANY_TAG.
           where(modes(), wildcard_axis(),
                 [](send_mode const& m, wildcard const& w) { return m.kind != send_mode::kind::ready || !w.tag; }),
           wildcards{}, thread_safe{}) {
    exchange(mpi, many_to_one(mpi, 3),
             {mpi.at(modes()), mpi.at(receives()), completion_by("waitall"), mpi.at(wildcard_axis())});
}
