// Loads from and stores to the shared memory of others, beside each way of synchronization (MPI-5.0 sections 12.2.3, 12.5.2
// to 12.5.4).
#include "framework/check/logical.hpp"
#include "suites/rma/int_window.hpp"

#include <fmt/format.h>
#include <unistd.h>

using namespace assay;
using namespace assay::rma;

namespace {

enum class way { post, post_test, lock, sync, flush };
axis<way> const ways("sync", {{{"post", "MPI_Win_post, start, complete, wait"}, way::post},
                              {{"post_test", "the same with MPI_Win_test"}, way::post_test},
                              {{"lock", "MPI_Win_lock, exclusive, of the window that is stored into"}, way::lock},
                              {{"sync", "MPI_Win_sync before and after a barrier of messages"}, way::sync},
                              {{"flush", "MPI_Win_flush, then as sync"}, way::flush}});
requirement requirement_of(way how) {
    switch (how) {
    case way::post:
    case way::post_test: return "rma.shared.complete";
    case way::lock: return "rma.shared.lock";
    default: return "rma.shared.sync";
    }
}

int volatile* memory_of(test_run& mpi, MPI_Win win, int rank) {
    MPI_Aint size = 0;
    int unit = 0;
    int* base = nullptr;
    mpi.ok(MPI_Win_shared_query(win, rank, &size, &unit, &base));
    return base;
}

axis<std::size_t> const lengths("count", {{{"1", "one int"}, 1}, {{"1000", "4 kB"}, 1000}});

} // namespace

ASSAY_TEST(rma, shared_stores, requirements{"rma.shared.complete", "rma.shared.lock", "rma.shared.sync"},
           over(axis_use{&ways}, axis_use{&lengths}, communicators::of({"world", "self", "reversed"})),
           note{"each rank stores into the memory of its right neighbour, three times"}) {
    auto const how = mpi.at(ways);
    auto const n = mpi.at(lengths);
    int const to = right_of(mpi), from = left_of(mpi);
    bool const posts = how == way::post || how == way::post_test, all = how == way::sync || how == way::flush;
    int_window win(mpi, flavor::shared, n, int_window::use::passive, -1);
    if (!win.made()) return;
    auto* const there = memory_of(mpi, win, to);
    if (!mpi.check(there != nullptr, finding::window, "MPI_Win_shared_query gives no address")) return;
    auto const rests = mpi.resting_on(requirement_of(how));
    some_ranks const targets(mpi, win, {to}), origins(mpi, win, {from});
    if (all) mpi.ok(MPI_Win_lock_all(0, win));
    for (int round = 1; round <= 3; ++round) {
        if (posts) {
            mpi.ok(MPI_Win_post(origins, 0, win));
            mpi.ok(MPI_Win_start(targets, 0, win));
            barrier(mpi); // MPI_Win_start need not wait for the post, and the stores have to
        }
        if (how == way::lock) mpi.ok(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, to, 0, win));
        for (std::size_t i = 0; i < n; ++i) there[i] = 1000 * round + mpi.rank;
        if (how == way::lock) mpi.ok(MPI_Win_unlock(to, win));
        if (posts) mpi.ok(MPI_Win_complete(win));
        if (how == way::post) mpi.ok(MPI_Win_wait(win));
        for (int flag = 0; how == way::post_test && !logical(flag);)
            if (!mpi.ok(MPI_Win_test(win, &flag))) break;
        if (how == way::flush) mpi.ok(MPI_Win_flush(to, win));
        if (how == way::sync) mpi.ok(MPI_Win_sync(win));
        if (!posts) barrier(mpi);
        if (all) mpi.ok(MPI_Win_sync(win));
        expect_ints(mpi, how == way::lock ? win.content() : win.loaded(), std::vector<int>(n, 1000 * round + from),
                    "memory that another process stored into");
        if (all) mpi.ok(MPI_Win_sync(win));
        barrier(mpi);
    }
    if (all) mpi.ok(MPI_Win_unlock_all(win));
}

// A number in the memory of rank 0, which all increase by loads and stores.
ASSAY_TEST(rma, shared_counter, requirements{"rma.shared.lock"},
           over(communicators::of({"world", "self", "reversed"}))) {
    constexpr int rounds = 20;
    int_window win(mpi, flavor::shared, 1);
    if (!win.made()) return;
    auto* const there = memory_of(mpi, win, 0);
    if (!mpi.check(there != nullptr, finding::window, "MPI_Win_shared_query gives no address")) return;
    for (int round = 0; round < rounds; ++round) {
        mpi.ok(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
        int const before = there[0];
        if (round % 4 == 0) usleep(100); // time for others to come between
        there[0] = before + 1;
        mpi.ok(MPI_Win_unlock(0, win));
    }
    barrier(mpi);
    if (mpi.rank == 0) expect_ints(mpi, win.content(), {rounds * mpi.size}, "the number");
    barrier(mpi);
}

// What was put is loaded by another process than the target, and what was stored is got by another one.
ASSAY_TEST(rma, shared_mixed, requirements{"rma.shared.lock", "rma.allocate_shared"},
           over(axis_use{&lengths}, communicators::of({"world", "self", "reversed"}))) {
    auto const n = mpi.at(lengths);
    auto const count = static_cast<int>(n);
    int const to = right_of(mpi), of = (mpi.rank + 2) % mpi.size;
    int_window win(mpi, flavor::shared, n, int_window::use::passive, -1);
    if (!win.made()) return;
    auto const* const seen = memory_of(mpi, win, of);
    auto* const there = memory_of(mpi, win, to);
    if (!mpi.check(seen != nullptr && there != nullptr, finding::window, "MPI_Win_shared_query gives no address"))
        return;
    std::vector<int> const out(n, 20 + mpi.rank);
    mpi.ok(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, to, 0, win));
    mpi.ok(MPI_Put(out.data(), count, MPI_INT, to, win.at(to), count, MPI_INT, win));
    mpi.ok(MPI_Win_unlock(to, win));
    barrier(mpi);
    int const writer = (of + mpi.size - 1) % mpi.size;
    mpi.ok(MPI_Win_lock(MPI_LOCK_SHARED, of, 0, win));
    expect_ints(mpi, {seen, seen + n}, std::vector<int>(n, 20 + writer),
                "memory that a process put into, loaded by another");
    mpi.ok(MPI_Win_unlock(of, win));
    barrier(mpi);
    mpi.ok(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, to, 0, win));
    for (std::size_t i = 0; i < n; ++i) there[i] = 40 + mpi.rank;
    mpi.ok(MPI_Win_unlock(to, win));
    barrier(mpi);
    std::vector<int> in(n, -7);
    mpi.ok(MPI_Win_lock(MPI_LOCK_SHARED, of, 0, win));
    mpi.ok(MPI_Get(in.data(), count, MPI_INT, of, win.at(of), count, MPI_INT, win));
    mpi.ok(MPI_Win_unlock(of, win));
    expect_ints(mpi, in, std::vector<int>(n, 40 + writer), "memory that a process stored into, got by another");
    barrier(mpi);
}
