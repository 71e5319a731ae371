// Keller: "Allreduce Min", "Max", "Sum", "Quadsum", "Min/Max w/ MPI_IN_PLACE" (MPI-5.0 section 6.9.6).
#include "suites/coll/algorithm.hpp"
#include "suites/coll/operation.hpp"

using namespace assay;
using namespace assay::coll;

ASSAY_TEST(coll, allreduce,
           requirements{"coll.allreduce.result", "coll.op.predefined", "coll.op.loc", "coll.op.user", "coll.op.order",
                        "coll.in_place", "coll.intercommunicator.all", "coll.nonblocking", "coll.persistent",
                        "coll.large_count"},
           over(reducing(), axis_use{&starts()}, axis_use{&in_place_axis()}, communicators::usable(), datatypes::all(),
                counts::ladder(), placements::all()),
           reducible(), in_place_needs_intra(), fits_memory(false), thread_safe{}) {
    case_op const op(mpi, mpi.at(starts()).large);
    bool const in_place = mpi.at(in_place_axis());
    auto& out = mpi.unfilled(in_place ? 0 : mpi.elements);
    auto& in = mpi.unfilled(mpi.elements);
    void* const send = in_place ? MPI_IN_PLACE : out.address();
    for (calling c(mpi); c.next();) {
        contributions data(mpi, mpi.elements, c.round);
        (in_place ? out : in).poison();
        (in_place ? in : out).fill(data.operand());
        ASSAY_COLLECTIVE(c, Allreduce, Iallreduce, send, in, mpi.count, mpi.type, op, mpi.comm);
        in.expect(data.result(), "of the reduction");
        out.expect_unchanged();
    }
}

ASSAY_TEST(
    coll, allreduce_algorithms, requirements{"coll.algorithms"},
    over(axis_use{&algorithms()},
         only(operations(), [](operation const& op) { return op.kind == op_kind::sum || op.kind == op_kind::affine; }),
         algorithm_starts(), axis_use{&in_place_axis()}, algorithm_comms(), algorithm_types(), algorithm_counts()),
    reducible(), in_place_needs_intra()) {
    chosen_algorithm chosen(mpi, started(mpi, "allreduce"), mpi.at(operations()).kind == op_kind::affine);
    body_coll_allreduce(chosen.run());
}
