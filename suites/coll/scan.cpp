// Keller: "Scan sum"; MPI_Scan and MPI_Exscan (MPI-5.0 section 6.11), which have no meaning on intercommunicators.
#include "suites/coll/algorithm.hpp"
#include "suites/coll/operation.hpp"

using namespace assay;
using namespace assay::coll;

namespace {
axis<bool> const kinds("scan", {{{"inclusive", "MPI_Scan"}, false}, {{"exclusive", "MPI_Exscan"}, true}});
}

ASSAY_TEST(coll, scan,
           requirements{"coll.scan.result", "coll.exscan.result", "coll.exscan.first", "coll.op.predefined",
                        "coll.op.loc", "coll.op.user", "coll.op.order", "coll.in_place", "coll.nonblocking",
                        "coll.persistent", "coll.large_count"},
           over(axis_use{&kinds}, reducing(), axis_use{&starts()}, axis_use{&in_place_axis()},
                axis_use{&ignored_axis()}, communicators::intra(), datatypes::all(), counts::ladder(),
                placements::all()),
           reducible(), fits_memory(false), thread_safe{}) {
    case_op const op(mpi, mpi.at(starts()).large);
    ignored const other(mpi);
    bool const in_place = mpi.at(in_place_axis()), exclusive = mpi.at(kinds), nothing = exclusive && mpi.rank == 0;
    auto& out = mpi.unfilled(in_place ? 0 : mpi.elements);
    auto& in = mpi.unfilled(mpi.elements);
    void* const send = in_place ? MPI_IN_PLACE : out.address();
    void* const receive = nothing && !in_place ? other.address(in) : in.address();
    for (calling c(mpi); c.next();) {
        contributions data(mpi, mpi.elements, c.round);
        (in_place ? out : in).poison();
        (in_place ? in : out).fill(data.operand());
        if (exclusive) ASSAY_COLLECTIVE(c, Exscan, Iexscan, send, receive, mpi.count, mpi.type, op, mpi.comm);
        else ASSAY_COLLECTIVE(c, Scan, Iscan, send, receive, mpi.count, mpi.type, op, mpi.comm);
        if (!nothing) {
            in.expect(data.result(0, mpi.elements, exclusive ? mpi.rank : mpi.rank + 1), "of the lower ranks");
        } else if (in_place) {
            in.expect_unchanged();
        } else { // undefined, but only there
            auto const any = as_it_is(in, mpi.map, 0, mpi.elements);
            in.expect(segment{0, mpi.elements, 0, any.data()}, "of the first rank");
        }
        out.expect_unchanged();
    }
}

ASSAY_TEST(
    coll, scan_algorithms, requirements{"coll.algorithms"},
    over(axis_use{&algorithms()}, axis_use{&kinds},
         only(operations(), [](operation const& op) { return op.kind == op_kind::sum || op.kind == op_kind::affine; }),
         algorithm_starts(), axis_use{&in_place_axis()}, only(ignored_axis(), [](bool garbage) { return !garbage; }),
         communicators::of({"world", "reversed"}), algorithm_types(), algorithm_counts()),
    reducible()) {
    chosen_algorithm chosen(mpi, started(mpi, mpi.at(kinds) ? "exscan" : "scan"),
                            mpi.at(operations()).kind == op_kind::affine);
    body_coll_scan(chosen.run());
}
