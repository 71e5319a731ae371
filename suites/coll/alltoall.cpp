// Keller: "Alltoall" of the collective class; MPI_Alltoall, MPI_Alltoallv and MPI_Alltoallw (MPI-5.0 section 6.8).
#include "suites/coll/collective.hpp"

#include "mpi_calls.hpp"

using namespace assay;
using namespace assay::coll;

namespace {

// What MPI_Alltoallw wants of one direction: for every other peer one element of a contiguous datatype.
struct description {
    description(test_run& mpi, blocks const& places) {
        for (std::size_t i = 0; i < places.counts.size(); ++i) {
            auto const& b = made.emplace_back(mpi, static_cast<std::size_t>(places.counts[i]), i % 2 == 1);
            counts.push_back(b.count);
            types.push_back(b.type);
            displacements.push_back(places.displacements[i] * static_cast<int>(mpi.map.extent()));
        }
    }
    std::list<block> made;
    std::vector<int> counts, displacements; // displacements in bytes
    std::vector<MPI_Datatype> types;
};

} // namespace

ASSAY_TEST(coll, alltoall,
           requirements{"coll.alltoall.data", "coll.alltoall.displacements", "coll.alltoall.types", "coll.in_place",
                        "coll.intercommunicator.all", "coll.nonblocking", "coll.persistent"},
           over(axis_use{&forms()}, axis_use{&starts()}, axis_use{&in_place_axis()}, axis_use{&ignored_axis()},
                communicators::usable(), datatypes::all(), counts::ladder(), placements::all()),
           in_place_needs_intra(), fits_memory(true)) {
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
    auto const& shown = as ? as->counts : places.counts;
    auto const& shifts = as ? as->displacements : places.displacements;
    auto const *counts = in_place ? other.array(shown) : shown.data(),
               *displacements = in_place ? other.array(shifts) : shifts.data();
    auto const* types = !as || counts == nullptr ? nullptr : as->types.data();
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
            ASSAY_COLLECTIVE(c, Alltoallw, Ialltoallw, send, counts, displacements, types, in, shown.data(),
                             shifts.data(), as->types.data(), mpi.comm);
        else
            ASSAY_COLLECTIVE(c, Alltoallv, Ialltoallv, send, counts, displacements, type, in, shown.data(),
                             shifts.data(), mpi.type, mpi.comm);
        in.expect(places.all(from), "of all");
        out.expect_unchanged();
    }
}
