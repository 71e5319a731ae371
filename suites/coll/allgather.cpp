// Keller: "Allgather", "Allgather w/ MPI_IN_PLACE" (MPI-5.0 section 6.7).
#include "suites/coll/algorithm.hpp"
#include "suites/coll/collective.hpp"

using namespace assay;
using namespace assay::coll;

ASSAY_TEST(coll, allgather,
           requirements{"coll.allgather.data", "coll.allgather.displacements", "coll.in_place",
                        "coll.intercommunicator.all", "coll.signature", "coll.nonblocking", "coll.persistent",
                        "coll.large_count"},
           over(only(forms(), of_one_block), axis_use{&starts()}, axis_use{&in_place_axis()}, axis_use{&block_axis()},
                axis_use{&ignored_axis()}, communicators::usable(), datatypes::all(), counts::ladder(),
                placements::all()),
           in_place_needs_intra(), block_fits_type(), fits_memory(true), thread_safe{}) {
    auto const f = mpi.at(forms());
    ignored const other(mpi);
    bool const in_place = mpi.at(in_place_axis());
    auto const own = block_size(f, mpi.elements, mpi.rank);
    auto& out = mpi.unfilled(in_place ? 0 : own);
    block const described(mpi, own);
    blocks const places(f, mpi.elements, mpi.peers);
    ints const counts(places.counts), displacements(places.displacements);
    auto& in = mpi.unfilled(places.room);

    void* const send = in_place ? MPI_IN_PLACE : out.address();
    int const send_count = in_place ? other.count(0) : described.count;
    auto const send_type = in_place ? other.type(mpi.type) : described.type;
    for (calling c(mpi); c.next();) {
        auto const key = [&](int from) { return key_of_all(mpi, data_side(mpi), from, c.round); };
        if (in_place) {
            out.poison();
            in.fill(places.at(mpi.rank, key(mpi.rank)));
        } else {
            out.fill(key_of_all(mpi, mpi.side, mpi.rank, c.round));
            in.poison();
        }
        if (f == form::plain)
            ASSAY_COLLECTIVE(c, Allgather, Iallgather, send, send_count, send_type, in, mpi.count, mpi.type, mpi.comm);
        else
            ASSAY_COLLECTIVE(c, Allgatherv, Iallgatherv, send, send_count, send_type, in, counts, displacements,
                             mpi.type, mpi.comm);
        in.expect(places.all(key), "of all");
        out.expect_unchanged();
    }
}

ASSAY_TEST(coll, allgather_algorithms, requirements{"coll.algorithms"},
           over(axis_use{&algorithms()}, only(forms(), [](form f) { return f == form::plain || f == form::v_stride; }),
                algorithm_starts(), axis_use{&in_place_axis()},
                only(block_axis(), [](bool contiguous) { return !contiguous; }),
                only(ignored_axis(), [](bool garbage) { return !garbage; }), algorithm_comms(), algorithm_types(),
                algorithm_counts()),
           in_place_needs_intra()) {
    chosen_algorithm chosen(mpi, started(mpi, mpi.at(forms()) == form::plain ? "allgather" : "allgatherv"));
    body_coll_allgather(chosen.run());
}
