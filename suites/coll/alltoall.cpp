// Keller: "Alltoall" of the collective class; MPI_Alltoall, MPI_Alltoallv and MPI_Alltoallw (MPI-5.0 section 6.8).
#include "suites/coll/algorithm.hpp"
#include "suites/coll/collective.hpp"

using namespace assay;
using namespace assay::coll;

namespace {
// A block that is received in place of the one that is sent is as large.
constraint in_place_needs_symmetry() {
    return where(in_place_axis(), forms(), [](bool in_place, form f) { return !in_place || !directed(f); });
}
} // namespace

ASSAY_TEST(coll, alltoall,
           requirements{"coll.alltoall.data", "coll.alltoall.displacements", "coll.alltoall.directions",
                        "coll.alltoall.types", "coll.in_place", "coll.intercommunicator.all", "coll.nonblocking",
                        "coll.persistent", "coll.large_count"},
           over(axis_use{&forms()}, axis_use{&starts()}, axis_use{&in_place_axis()}, axis_use{&ignored_axis()},
                communicators::usable(), datatypes::all(), counts::ladder(), placements::all()),
           in_place_needs_intra(), in_place_needs_symmetry(), fits_memory(true), thread_safe{}) {
    auto const f = mpi.at(forms());
    ignored const other(mpi);
    bool const in_place = mpi.at(in_place_axis());
    // What goes from i to j; the same as from j to i unless the directions differ.
    auto const size_of = [&](int from, int to) {
        return block_size(f, mpi.elements, (directed(f) ? 2 : 1) * from + to);
    };
    std::vector<std::size_t> out_sizes, in_sizes;
    for (int peer = 0; peer < mpi.peers; ++peer) {
        out_sizes.push_back(size_of(mpi.rank, peer));
        in_sizes.push_back(size_of(peer, mpi.rank));
    }
    auto const out_places = outgoing_blocks(f, mpi.elements, out_sizes),
               in_places = incoming_blocks(f, mpi.elements, in_sizes);
    auto& out = mpi.unfilled(in_place ? 0 : out_places.room);
    auto& in = mpi.unfilled(in_places.room);
    std::optional<block_types> sent_as, received_as;
    if (is_w(f)) {
        sent_as.emplace(mpi, out_places);
        received_as.emplace(mpi, in_places, directed(f));
    }

    void* const send = in_place ? MPI_IN_PLACE : out.address();
    int const count = in_place ? other.count(mpi.count) : mpi.count;
    auto const type = in_place ? other.type(mpi.type) : mpi.type;
    ints const out_counts(sent_as ? sent_as->counts : out_places.counts),
        out_displacements(sent_as ? sent_as->displacements : out_places.displacements),
        in_counts(received_as ? received_as->counts : in_places.counts),
        in_displacements(received_as ? received_as->displacements : in_places.displacements);
    auto const counts = in_place ? other.array(out_counts) : out_counts,
               displacements = in_place ? other.array(out_displacements) : out_displacements;
    auto const* types = !sent_as || counts.data == nullptr ? nullptr : sent_as->types.data();
    for (calling c(mpi); c.next();) {
        auto const to = [&](int peer) { return mpi.key_to(peer, c.round); };
        auto const from = [&](int peer) { return mpi.key_from(peer, c.round); };
        if (in_place) {
            out.poison();
            in.fill(in_places.all(to));
        } else {
            out.fill(out_places.all(to));
            in.poison();
        }
        if (f == form::plain)
            ASSAY_COLLECTIVE(c, Alltoall, Ialltoall, send, count, type, in, mpi.count, mpi.type, mpi.comm);
        else if (received_as)
            ASSAY_COLLECTIVE(c, Alltoallw, Ialltoallw, send, counts, displacements, types, in, in_counts,
                             in_displacements, received_as->types.data(), mpi.comm);
        else
            ASSAY_COLLECTIVE(c, Alltoallv, Ialltoallv, send, counts, displacements, type, in, in_counts,
                             in_displacements, mpi.type, mpi.comm);
        in.expect(in_places.all(from), "of all");
        out.expect_unchanged();
    }
}

ASSAY_TEST(
    coll, alltoall_algorithms, requirements{"coll.algorithms"},
    over(axis_use{&algorithms()},
         only(forms(), [](form f) { return f == form::plain || f == form::v_stride || f == form::w || directed(f); }),
         algorithm_starts(), axis_use{&in_place_axis()}, only(ignored_axis(), [](bool garbage) { return !garbage; }),
         algorithm_comms(), algorithm_types(), algorithm_counts()),
    in_place_needs_intra(), in_place_needs_symmetry()) {
    chosen_algorithm chosen(mpi, started(mpi, mpi.at(forms()) == form::plain ? "alltoall"
                                              : is_w(mpi.at(forms()))        ? "alltoallw"
                                                                             : "alltoallv"));
    body_coll_alltoall(chosen.run());
}
