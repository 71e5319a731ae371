// Keller: "Alltoall" of the collective class; MPI_Alltoall, MPI_Alltoallv and MPI_Alltoallw (MPI-5.0 section 6.8).
#include "suites/coll/algorithm.hpp"
#include "suites/coll/collective.hpp"

using namespace assay;
using namespace assay::coll;

ASSAY_TEST(coll, alltoall,
           requirements{"coll.alltoall.data", "coll.alltoall.displacements", "coll.alltoall.types", "coll.in_place",
                        "coll.intercommunicator.all", "coll.nonblocking", "coll.persistent", "coll.large_count"},
           over(axis_use{&forms()}, axis_use{&starts()}, axis_use{&in_place_axis()}, axis_use{&ignored_axis()},
                communicators::usable(), datatypes::all(), counts::ladder(), placements::all()),
           in_place_needs_intra(), fits_memory(true), thread_safe{}) {
    auto const f = mpi.at(forms());
    ignored const other(mpi);
    bool const in_place = mpi.at(in_place_axis());
    blocks const places(f, mpi.elements, mpi.peers, mpi.rank); // of both directions: block sizes are symmetric
    auto& out = mpi.unfilled(in_place ? 0 : places.room);
    auto& in = mpi.unfilled(places.room);
    std::optional<description> as;
    if (f == form::w) as.emplace(mpi, places);

    void* const send = in_place ? MPI_IN_PLACE : out.address();
    int const count = in_place ? other.count(mpi.count) : mpi.count;
    auto const type = in_place ? other.type(mpi.type) : mpi.type;
    ints const shown(as ? as->counts : places.counts), shifts(as ? as->displacements : places.displacements);
    auto const counts = in_place ? other.array(shown) : shown, displacements = in_place ? other.array(shifts) : shifts;
    auto const* types = !as || counts.data == nullptr ? nullptr : as->types.data();
    for (calling c(mpi); c.next();) {
        auto const to = [&](int peer) { return mpi.key_to(peer, c.round); };
        auto const from = [&](int peer) { return mpi.key_from(peer, c.round); };
        if (in_place) {
            out.poison();
            in.fill(places.all(to));
        } else {
            out.fill(places.all(to));
            in.poison();
        }
        if (f == form::plain)
            ASSAY_COLLECTIVE(c, Alltoall, Ialltoall, send, count, type, in, mpi.count, mpi.type, mpi.comm);
        else if (as)
            ASSAY_COLLECTIVE(c, Alltoallw, Ialltoallw, send, counts, displacements, types, in, shown, shifts,
                             as->types.data(), mpi.comm);
        else
            ASSAY_COLLECTIVE(c, Alltoallv, Ialltoallv, send, counts, displacements, type, in, shown, shifts, mpi.type,
                             mpi.comm);
        in.expect(places.all(from), "of all");
        out.expect_unchanged();
    }
}

ASSAY_TEST(coll, alltoall_algorithms, requirements{"coll.algorithms"},
           over(axis_use{&algorithms()},
                only(forms(), [](form f) { return f == form::plain || f == form::v_stride || f == form::w; }),
                algorithm_starts(), axis_use{&in_place_axis()},
                only(ignored_axis(), [](bool garbage) { return !garbage; }), algorithm_comms(), algorithm_types(),
                algorithm_counts()),
           in_place_needs_intra()) {
    chosen_algorithm chosen(mpi, started(mpi, mpi.at(forms()) == form::plain ? "alltoall"
                                              : mpi.at(forms()) == form::w   ? "alltoallw"
                                                                             : "alltoallv"));
    body_coll_alltoall(chosen.run());
}
