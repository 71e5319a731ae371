// Keller: "Bcast" (MPI-5.0 section 6.4).
#include "suites/coll/algorithm.hpp"
#include "suites/coll/collective.hpp"

using namespace assay;
using namespace assay::coll;

ASSAY_TEST(coll, bcast,
           requirements{"coll.bcast.data", "coll.intercommunicator.root", "coll.signature", "coll.nonblocking",
                        "coll.persistent", "coll.large_count"},
           over(axis_use{&starts()}, axis_use{&roots()}, axis_use{&block_axis()}, communicators::usable(),
                datatypes::all(), counts::ladder(), placements::all()),
           block_fits_type(), fits_memory(false), thread_safe{}) {
    auto const root = root_of(mpi);
    auto& data = mpi.unfilled(mpi.elements);
    block const described(mpi, mpi.elements, mpi.at(block_axis()) && !root.here);
    for (calling c(mpi); c.next();) {
        auto const key = key_of_all(mpi, root.side, root.rank, c.round);
        if (root.here) data.fill(key);
        else data.poison();
        ASSAY_COLLECTIVE(c, Bcast, Ibcast, data.address(), described.count, described.type, root.argument, mpi.comm);
        if (root.here || !root.other_side) data.expect_unchanged();
        else data.expect(key, mpi.elements, "from the root");
    }
}

ASSAY_TEST(coll, bcast_algorithms, requirements{"coll.algorithms"},
           over(axis_use{&algorithms()}, algorithm_starts(), axis_use{&roots()},
                only(block_axis(), [](bool contiguous) { return !contiguous; }), algorithm_comms(), algorithm_types(),
                algorithm_counts())) {
    chosen_algorithm chosen(mpi, started(mpi, "bcast"));
    body_coll_bcast(chosen.run());
}
