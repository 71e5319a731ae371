// Collective operations whose blocks lie further apart than 2^32 bytes: displacements are small, and their products with the extent of
// the datatype are not (MPI-5.0 sections 6.5 to 6.8).
#include "suites/coll/collective.hpp"
#include "suites/common/far_memory.hpp"

#include <fmt/format.h>

using namespace assay;
using namespace assay::coll;

namespace {

enum class move { gatherv, scatterv, allgatherv, alltoallv, bcast };
axis<move> const moves("move", {{{"gatherv", "MPI_Gatherv"}, move::gatherv},
                                {{"scatterv", "MPI_Scatterv"}, move::scatterv},
                                {{"allgatherv", "MPI_Allgatherv"}, move::allgatherv},
                                {{"alltoallv", "MPI_Alltoallv"}, move::alltoallv},
                                {{"bcast", "MPI_Bcast of two elements"}, move::bcast}});

// An int in this many bytes; block i of a process is element 2 i + 3: all of them lie beyond 2^32.
constexpr std::size_t extent = (std::size_t{3} << 29) + 64;
std::size_t place(int i) { return static_cast<std::size_t>(2 * i + 3) * extent; }

} // namespace

ASSAY_TEST(coll, far_apart, requirements{"coll.far_displacements"},
           over(axis_use{&moves}, axis_use{&starts()}, axis_use{&roots()}, communicators::of({"world", "reversed"})),
           note{"in address space of which only few pages are touched"}) {
    auto const how = mpi.at(moves);
    auto const root = root_of(mpi);
    int const n = mpi.size;
    far_memory const out(place(n)), in(place(n));
    if (out.base() == nullptr || in.base() == nullptr) mpi.unsupported("no such address space");
    MPI_Datatype type = MPI_DATATYPE_NULL;
    if (!mpi.ok(MPI_Type_create_resized(MPI_INT, 0, static_cast<MPI_Aint>(extent), &type))) return;
    mpi.ok(MPI_Type_commit(&type));
    std::vector<int> ones(static_cast<std::size_t>(n), 1), displacements(ones.size());
    for (int i = 0; i < n; ++i) displacements[static_cast<std::size_t>(i)] = 2 * i + 3;
    ints const counts(ones), places(displacements);
    int near = -7; // the one block of a process
    for (calling c(mpi); c.next();) {
        auto const value = [&](int from, int to) { return 1000000 * (c.round + 1) + 1000 * from + to; };
        near = how == move::scatterv ? -7 : value(mpi.rank, how == move::gatherv ? root.rank : 0);
        for (int i = 0; i < n; ++i) {
            out.at(place(i)) = value(mpi.rank, i);
            in.at(place(i)) = -7;
            in.cut(place(i)) = -8; // must stay
        }
        switch (how) {
        case move::gatherv:
            ASSAY_COLLECTIVE(c, Gatherv, Igatherv, &near, 1, MPI_INT, in.base(), counts, places, type, root.rank,
                             mpi.comm);
            break;
        case move::scatterv:
            ASSAY_COLLECTIVE(c, Scatterv, Iscatterv, out.base(), counts, places, type, &near, 1, MPI_INT, root.rank,
                             mpi.comm);
            break;
        case move::allgatherv:
            ASSAY_COLLECTIVE(c, Allgatherv, Iallgatherv, &near, 1, MPI_INT, in.base(), counts, places, type, mpi.comm);
            break;
        case move::alltoallv:
            ASSAY_COLLECTIVE(c, Alltoallv, Ialltoallv, out.base(), counts, places, type, in.base(), counts, places,
                             type, mpi.comm);
            break;
        case move::bcast: {
            // Elements 0 and 1 from the place of the last block on: the second lies beyond 2^32 from there, too, for others.
            unsigned char* const first = (root.here ? out : in).base() + place(n - 1) - 3 * extent;
            *reinterpret_cast<int*>(first) = root.here ? 11 : -7;
            *reinterpret_cast<int*>(first + 3 * extent) = root.here ? 22 + c.round : -7;
            MPI_Datatype three = MPI_DATATYPE_NULL;
            mpi.ok(MPI_Type_create_resized(MPI_INT, 0, static_cast<MPI_Aint>(3 * extent), &three));
            mpi.ok(MPI_Type_commit(&three));
            ASSAY_COLLECTIVE(c, Bcast, Ibcast, static_cast<void*>(first), 2, three, root.rank, mpi.comm);
            mpi.check(*reinterpret_cast<int*>(first) == 11 &&
                          *reinterpret_cast<int*>(first + 3 * extent) == 22 + c.round,
                      finding::data,
                      fmt::format("the two ints are {} and {}, expected 11 and {}", *reinterpret_cast<int*>(first),
                                  *reinterpret_cast<int*>(first + 3 * extent), 22 + c.round));
            mpi.ok(MPI_Type_free(&three));
            break;
        }
        }
        bool const receives = how == move::allgatherv || how == move::alltoallv || (how == move::gatherv && root.here);
        for (int i = 0; how != move::bcast && i < n; ++i) {
            int const to = how == move::alltoallv ? mpi.rank : how == move::gatherv ? root.rank : 0;
            int const expected = receives ? value(i, to) : -7;
            mpi.check(in.at(place(i)) == expected, finding::data,
                      fmt::format("block {}, {} bytes from the buffer, is {}, expected {}", i, place(i),
                                  in.at(place(i)), expected));
            mpi.check(in.cut(place(i)) == -8, finding::gap,
                      fmt::format("{} bytes from the buffer something was written", place(i) & 0xffffffffu));
        }
        if (how == move::scatterv)
            mpi.check(near == value(root.rank, mpi.rank), finding::data,
                      fmt::format("the block, {} bytes from the root's buffer, is {}, expected {}", place(mpi.rank),
                                  near, value(root.rank, mpi.rank)));
    }
    mpi.ok(MPI_Type_free(&type));
}
