// The tools interface is opened and closed while a program runs (MPI-5.0 section 15.3.4).
#include "framework/mpi/own_job.hpp"
#include "framework/mpi/run.hpp"

#include <fmt/format.h>
#include <unistd.h>
#include <vector>

using namespace assay;

namespace {

enum class when { inside, outside, always };
axis<when> const moments("opened", {{{"inside", "twice between MPI_Init and MPI_Finalize"}, when::inside},
                                    {{"outside", "before MPI_Init, and after MPI_Finalize"}, when::outside},
                                    {{"always", "before MPI_Init, until after MPI_Finalize"}, when::always}});

void open(test_run& mpi) {
    int provided = -7;
    succeeded(mpi, MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    mpi.check(provided == MPI_THREAD_SINGLE || provided == MPI_THREAD_FUNNELED || provided == MPI_THREAD_SERIALIZED ||
                  provided == MPI_THREAD_MULTIPLE,
              finding::value, fmt::format("MPI_T_init_thread provides {}, which is no thread level", provided));
}
void expect_open(test_run& mpi, char const* where) {
    int n = -7;
    succeeded(mpi, MPI_T_cvar_get_num(&n));
    mpi.check(n >= 0, finding::value, fmt::format("MPI_T_cvar_get_num gives {} {}", n, where));
}
void close(test_run& mpi) { succeeded(mpi, MPI_T_finalize()); }

// What others have to do with the library: communicators come and go, collective operations work.
void expect_work(test_run& mpi, world_place const& world, char const* where) {
    constexpr int n = 65536; // libraries choose by size
    MPI_Comm dup = MPI_COMM_NULL;
    int const expected = world.size * (world.size + 1) / 2;
    std::vector<int> const mine(n, world.rank + 1);
    std::vector<int> sums(n, -7);
    mpi.ok(MPI_Comm_dup(MPI_COMM_WORLD, &dup));
    for (auto comm : {MPI_COMM_WORLD, dup}) {
        mpi.ok(MPI_Barrier(comm));
        for (int const count : {1, n}) {
            mpi.ok(MPI_Allreduce(mine.data(), sums.data(), count, MPI_INT, MPI_SUM, comm));
            mpi.check(sums[0] == expected && sums[static_cast<std::size_t>(count) - 1] == expected, finding::data,
                      fmt::format("MPI_Allreduce gives {} {}, expected {}", sums[0], where, expected));
            mpi.ok(MPI_Bcast(sums.data(), count, MPI_INT, 0, comm));
        }
    }
    mpi.ok(MPI_Comm_free(&dup));
}

} // namespace

ASSAY_TEST(tool, lifetime, requirements{"tools.init.counted", "tools.finalize.mpi_goes_on", "tools.outside"},
           over(axis_use{&moments}), own_job{},
           needs_procedures({"MPI_T_init_thread", "MPI_T_finalize", "MPI_T_cvar_get_num"})) {
    auto const opened = mpi.at(moments);
    if (opened != when::inside) {
        open(mpi);
        expect_open(mpi, "before MPI_Init");
        if (opened == when::outside) close(mpi);
    }
    auto const world = initialize(mpi);
    for (int turn = 0; turn < 2; ++turn) {
        if (opened == when::inside) {
            open(mpi);
            open(mpi);
            close(mpi);
        }
        if (opened != when::outside) expect_open(mpi, "where it was opened more often than closed");
        if (opened == when::inside) close(mpi);
        expect_work(mpi, world, "after MPI_T_finalize");
    }
    finalize(mpi);
    if (opened == when::outside) open(mpi);
    if (opened != when::inside) {
        expect_open(mpi, "after MPI_Finalize");
        close(mpi);
    }
}
