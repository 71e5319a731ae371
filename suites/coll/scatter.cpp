// Keller: "Scatter", "Scatterv", "Scatterv stride" (MPI-5.0 section 6.6).
#include "suites/coll/algorithm.hpp"
#include "suites/coll/collective.hpp"

using namespace assay;
using namespace assay::coll;

ASSAY_TEST(coll, scatter,
           requirements{"coll.scatter.data", "coll.scatter.displacements", "coll.scatter.not_significant",
                        "coll.in_place", "coll.intercommunicator.root", "coll.signature", "coll.nonblocking",
                        "coll.persistent", "coll.large_count"},
           over(only(forms(), of_one_block), axis_use{&starts()}, axis_use{&roots()}, axis_use{&in_place_axis()},
                axis_use{&block_axis()}, axis_use{&ignored_axis()}, communicators::usable(), datatypes::all(),
                counts::ladder(), placements::all()),
           in_place_needs_intra(), block_fits_type(), fits_memory(true), thread_safe{}) {
    auto const f = mpi.at(forms());
    auto const root = root_of(mpi);
    ignored const other(mpi);
    bool const in_place = mpi.at(in_place_axis()) && root.here, receives = root.other_side && !in_place;
    auto const own = block_size(f, mpi.elements, mpi.rank);
    auto& in = mpi.unfilled(receives ? own : 0);
    block const described(mpi, own);
    blocks const places(f, mpi.elements, root.here ? root.partners : 0);
    auto& out = mpi.unfilled(places.room);

    void* const receive = in_place ? MPI_IN_PLACE : in.address();
    int const receive_count = receives ? described.count : in_place ? other.count(0) : 0;
    auto const receive_type = receives ? described.type : in_place ? other.type(mpi.type) : mpi.type;
    void* const send = root.here ? out.address() : other.address(out);
    int const send_count = root.here ? mpi.count : other.count(mpi.count);
    auto const send_type = root.here ? mpi.type : other.type(mpi.type);
    auto const counts = root.here ? ints(places.counts) : other.array(places.counts),
               displacements = root.here ? ints(places.displacements) : other.array(places.displacements);
    for (calling c(mpi); c.next();) {
        auto const key = [&](int to) {
            return mpi.key(root.side, root.rank, mpi.inter ? 1 - root.side : 0, to, c.round);
        };
        if (root.here) out.fill(places.all(key));
        else out.poison();
        in.poison();
        if (f == form::plain)
            ASSAY_COLLECTIVE(c, Scatter, Iscatter, send, send_count, send_type, receive, receive_count, receive_type,
                             root.argument, mpi.comm);
        else
            ASSAY_COLLECTIVE(c, Scatterv, Iscatterv, send, counts, displacements, send_type, receive, receive_count,
                             receive_type, root.argument, mpi.comm);
        if (receives) in.expect(key(mpi.rank), own, "from the root");
        else in.expect_untouched();
        out.expect_unchanged();
    }
}

ASSAY_TEST(coll, scatter_algorithms, requirements{"coll.algorithms"},
           over(axis_use{&algorithms()}, only(forms(), [](form f) { return f == form::plain || f == form::v_stride; }),
                algorithm_starts(), axis_use{&roots()}, axis_use{&in_place_axis()},
                only(block_axis(), [](bool contiguous) { return !contiguous; }),
                only(ignored_axis(), [](bool garbage) { return !garbage; }), algorithm_comms(), algorithm_types(),
                algorithm_counts()),
           in_place_needs_intra()) {
    chosen_algorithm chosen(mpi, started(mpi, mpi.at(forms()) == form::plain ? "scatter" : "scatterv"));
    body_coll_scatter(chosen.run());
}
