// Keller: "Direct Partner Intercomm" — the processes of the same rank in both groups exchange messages.
#include "suites/p2p/exchange.hpp"

using namespace assay;
using namespace assay::p2p;

ASSAY_TEST(p2p, partner, requirements{"p2p.send.data", "p2p.intercomm.remote_group", "p2p.status.fields"},
           over(axis_use{&modes()}, axis_use{&receives()}, axis_use{&completions()}, communicators::inter(),
                datatypes::all(), counts::ladder(), placements::all()),
           sensible_receive(), sensible_completion(), fits_memory(false), thread_safe{}) {
    exchange(mpi, partner(mpi), {mpi.at(modes()), mpi.at(receives()), mpi.at(completions())});
}
