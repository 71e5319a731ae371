// Keller: "Reduce Min", "Reduce Max", "Reduce Min/Max w/ MPI_IN_PLACE" (MPI-5.0 section 6.9.1).
#include "framework/check/logical.hpp"
#include "suites/coll/algorithm.hpp"
#include "suites/coll/operation.hpp"

using namespace assay;
using namespace assay::coll;

ASSAY_TEST(coll, reduce,
           requirements{"coll.reduce.result", "coll.reduce.not_significant", "coll.op.predefined", "coll.op.loc",
                        "coll.op.user", "coll.op.order", "coll.in_place", "coll.intercommunicator.root",
                        "coll.nonblocking", "coll.persistent", "coll.large_count"},
           over(reducing(), axis_use{&starts()}, axis_use{&roots()}, axis_use{&in_place_axis()},
                axis_use{&ignored_axis()}, communicators::usable(), datatypes::all(), counts::ladder(),
                placements::all()),
           reducible(), in_place_needs_intra(), fits_memory(false), thread_safe{}) {
    case_op const op(mpi, mpi.at(starts()).large);
    auto const root = root_of(mpi);
    ignored const other(mpi);
    bool const in_place = mpi.at(in_place_axis()) && root.here, sends = root.other_side && !in_place;
    auto& out = mpi.unfilled(sends ? mpi.elements : 0);
    auto& in = mpi.unfilled(root.here ? mpi.elements : 0);
    void* const send = sends ? out.address() : in_place ? MPI_IN_PLACE : other.address(out);
    void* const receive = root.here ? in.address() : other.address(in);
    for (calling c(mpi); c.next();) {
        contributions data(mpi, mpi.elements, c.round);
        out.poison();
        in.poison();
        if (root.other_side) (in_place ? in : out).fill(data.operand());
        ASSAY_COLLECTIVE(c, Reduce, Ireduce, send, receive, mpi.count, mpi.type, op, root.argument, mpi.comm);
        if (root.here) in.expect(data.result(), "of the reduction");
        else in.expect_untouched();
        out.expect_unchanged();
    }
}

ASSAY_TEST(coll, reduce_algorithms, requirements{"coll.algorithms"},
           over(axis_use{&algorithms()},
                only(operations(),
                     [](operation const& op) { return op.kind == op_kind::sum || op.kind == op_kind::affine; }),
                algorithm_starts(), axis_use{&roots()}, axis_use{&in_place_axis()},
                only(ignored_axis(), [](bool garbage) { return !garbage; }), algorithm_comms(), algorithm_types(),
                algorithm_counts()),
           reducible(), in_place_needs_intra()) {
    chosen_algorithm chosen(mpi, started(mpi, "reduce"), mpi.at(operations()).kind == op_kind::affine);
    body_coll_reduce(chosen.run());
}

namespace {
axis<bool> const
    widths("width",
           {{{"int", "counts of type int"}, false},
            {{"count", "counts of type MPI_Count; since MPI-4.0", needs_procedures({"MPI_Reduce_local_c"})}, true}});
} // namespace

// One process alone (section 6.9.7), and what an operation says of itself.
ASSAY_TEST(coll, reduce_local,
           requirements{"coll.reduce_local", "coll.op.predefined", "coll.op.user", "coll.op.commutative",
                        "coll.large_count"},
           over(reducing(), axis_use{&widths}, datatypes::all(), counts::ladder(), placements::all()), reducible(),
           where(type_axis(), count_ladder(),
                 [](datatype const& type, count_value const& count) {
                     return count.of(type.map) * static_cast<std::size_t>(std::abs(type.map.extent())) <= 16u << 20;
                 }),
           thread_safe{}) {
    bool const large = mpi.at(widths);
    case_op const op(mpi, large);
    reduction const data(op.op, *mpi.type_entry, mpi.key(0, mpi.rank, 0, mpi.rank, 0), 2);
    auto const left = data.operand(0, 0, mpi.elements), right = data.operand(1, 0, mpi.elements),
               both = data.result(std::array{0, 1}, 0, mpi.elements);
    auto& in = mpi.unfilled(mpi.elements);
    auto& inout = mpi.unfilled(mpi.elements);
    in.fill({0, mpi.elements, 0, left.data()});
    inout.fill({0, mpi.elements, 0, right.data()});
    if (large) mpi.ok(MPI_Reduce_local_c(in, inout, mpi.count, mpi.type, op));
    else mpi.ok(MPI_Reduce_local(in, inout, mpi.count, mpi.type, op));
    inout.expect({0, mpi.elements, 0, both.data()}, "of the reduction");
    in.expect_unchanged();

    bool const expected = op.op.kind != op_kind::affine;
    int commutes = opposite(expected);
    mpi.ok(MPI_Op_commutative(op, &commutes));
    mpi.check(logical(commutes) == expected, finding::value, "MPI_Op_commutative gives " + std::to_string(commutes));
}
