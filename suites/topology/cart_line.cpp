// A Cartesian communicator without reordering keeps the ranks; a mapping says which processes are in the grid (MPI-5.0
// sections 8.5.1 and 8.5.8).
#include "framework/mpi/run.hpp"
#include <algorithm>
#include <numeric>

using namespace assay;

namespace {
axis<bool> const periods("periodic", {{{"yes", "a ring"}, true}, {{"no", "a line"}, false}});
axis<int> const outside("outside",
                        {{{"0", "all processes are in the grid"}, 0}, {{"1", "one process is left over"}, 1}});
} // namespace

ASSAY_TEST(topology, cart_line, requirements{"topology.cart_create", "topology.cart_map", "topology.cart_map.outside"},
           over(axis_use{&periods}, axis_use{&outside}, communicators::of({"world", "reversed"})),
           where(outside, comm_axis(),
                 [](job const& j, int left, communicator const& c) { return smallest_size(c, j.np) > left; }),
           thread_safe{}) {
    int const left = mpi.at(outside), dims = mpi.size - left, period = mpi.at(periods) ? 1 : 0;
    MPI_Comm grid = MPI_COMM_WORLD;
    if (mpi.ok(MPI_Cart_create(mpi.comm, 1, &dims, &period, 0, &grid))) {
        bool const member = mpi.rank < dims;
        mpi.check((grid != MPI_COMM_NULL) == member, finding::value,
                  member ? "MPI_Cart_create gives MPI_COMM_NULL to a member of the grid"
                         : "MPI_Cart_create gives a communicator to a process outside of the grid");
        if (grid != MPI_COMM_NULL) {
            int rank = -7, coordinate = -7;
            mpi.ok(MPI_Comm_rank(grid, &rank));
            mpi.ok(MPI_Cart_coords(grid, rank, 1, &coordinate));
            mpi.check(rank == mpi.rank && coordinate == mpi.rank, finding::value,
                      "rank and coordinate are " + std::to_string(rank) + " and " + std::to_string(coordinate) +
                          ", without reordering " + std::to_string(mpi.rank));
            mpi.ok(MPI_Comm_free(&grid));
        }
    }
    int mapped = -7;
    mpi.ok(MPI_Cart_map(mpi.comm, 1, &dims, &period, &mapped));
    // Any permutation will do: everybody looks at the ranks of all.
    std::vector<int> all(static_cast<std::size_t>(mpi.size), -7);
    mpi.ok(MPI_Allgather(&mapped, 1, MPI_INT, all.data(), 1, MPI_INT, mpi.comm));
    mpi.check("topology.cart_map.outside", std::count(all.begin(), all.end(), MPI_UNDEFINED) == left, finding::value,
              "MPI_Cart_map should give MPI_UNDEFINED to " + std::to_string(left) + " of the processes");
    std::erase_if(all, [&](int rank) { return rank == MPI_UNDEFINED || rank >= dims; });
    std::sort(all.begin(), all.end());
    std::vector<int> expected(static_cast<std::size_t>(dims));
    std::iota(expected.begin(), expected.end(), 0);
    mpi.check(all == expected, finding::value, "MPI_Cart_map must give each rank of the grid once");
}
