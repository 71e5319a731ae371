// Messages to and from MPI_PROC_NULL (MPI-5.0 section 3.10): they complete at once, move nothing, and the status of such a
// receive says source MPI_PROC_NULL, tag MPI_ANY_TAG, count 0.
#include "suites/p2p/exchange.hpp"

using namespace assay;
using namespace assay::p2p;

ASSAY_TEST(p2p, proc_null, requirements{"p2p.proc_null"},
           over(axis_use{&modes()}, axis_use{&receives()}, axis_use{&completions()}, communicators::usable(),
                datatypes::of({"int", "type_mix", "long_double"}),
                only(count_ladder(), [](count_value const& c) { return c.kind == count_value::unit::elements; })),
           sensible_receive(), sensible_completion(), thread_safe{}) {
    exchange(mpi, {{-1, -1}, {-1, -1}}, {mpi.at(modes()), mpi.at(receives()), mpi.at(completions())});
}
