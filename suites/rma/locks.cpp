// What locks of windows exclude and what they do not (MPI-5.0 section 12.5.3). No check depends on who comes first.
#include "suites/common/polling.hpp"
#include "suites/rma/int_window.hpp"

#include <fmt/format.h>
#include <numeric>
#include <unistd.h>

using namespace assay;
using namespace assay::rma;

namespace {

enum class lock { shared, all, all_nocheck, both };
axis<lock> const
    locks("lock", {{{"shared", "MPI_Win_lock, shared"}, lock::shared},
                   {{"all", "MPI_Win_lock_all"}, lock::all},
                   {{"all_nocheck", "MPI_Win_lock_all with MPI_MODE_NOCHECK"}, lock::all_nocheck},
                   {{"both", "MPI_Win_lock, shared, on ranks 0, 2, …, MPI_Win_lock_all on the others"}, lock::both}});

bool locks_all(test_run const& mpi) {
    auto const how = mpi.at(locks);
    return how == lock::all || how == lock::all_nocheck || (how == lock::both && mpi.rank % 2 == 1);
}
void acquire(test_run& mpi, MPI_Win win, int target) {
    if (locks_all(mpi)) mpi.ok(MPI_Win_lock_all(mpi.at(locks) == lock::all_nocheck ? MPI_MODE_NOCHECK : 0, win));
    else mpi.ok(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win));
}
void release(test_run& mpi, MPI_Win win, int target) {
    mpi.ok(locks_all(mpi) ? MPI_Win_unlock_all(win) : MPI_Win_unlock(target, win));
}

int get_now(test_run& mpi, int_window& win, int target, std::size_t index) {
    int in = -7;
    mpi.ok(MPI_Get(&in, 1, MPI_INT, target, win.at(target, index), 1, MPI_INT, win));
    mpi.ok(MPI_Win_flush(target, win));
    return in;
}

constexpr std::size_t far_end = 999; // of two ints that belong together, the second

} // namespace

// A get that has come is proof that the lock is held. The barrier is passed only when all hold it.
ASSAY_TEST(rma, held_together, requirements{"rma.lock.together", "rma.lock_all.together", "rma.lock_all.nocheck"},
           over(axis_use{&locks}, axis_use{&flavors()}, communicators::of({"world", "self", "reversed"})),
           note{"all ranks hold a shared lock of rank 0's window at once"}) {
    auto const how = mpi.at(locks);
    int_window win(mpi, mpi.at(flavors()), 2, int_window::use::passive, 5);
    if (!win.made()) return;
    auto const rests = mpi.resting_on(how == lock::shared        ? requirement("rma.lock.together")
                                      : how == lock::all_nocheck ? requirement("rma.lock_all.nocheck")
                                                                 : requirement("rma.lock_all.together"));
    for (int round = 0; round < 2; ++round) {
        int const one = 1;
        acquire(mpi, win, 0);
        expect_int(mpi, get_now(mpi, win, 0, 0), 5, "what was got under a shared lock");
        barrier(mpi);
        mpi.ok(MPI_Accumulate(&one, 1, MPI_INT, 0, win.at(0, 1), 1, MPI_INT, MPI_SUM, win));
        release(mpi, win, 0);
        barrier(mpi);
    }
    if (mpi.rank == 0) expect_ints(mpi, win.content(), {5, 5 + 2 * mpi.size}, "the window of rank 0");
    barrier(mpi);
}

// The odd ranks write two ints that belong together, the others read them.
ASSAY_TEST(rma, readers_and_writers, requirements{"rma.lock.excludes_shared", "rma.lock_all.excludes_exclusive"},
           over(only(locks, [](lock l) { return l != lock::all_nocheck; }), axis_use{&flavors()},
                communicators::of({"world", "reversed"})),
           note{"two puts under an exclusive lock, two gets under a shared one"}) {
    auto const rests = mpi.resting_on(mpi.at(locks) == lock::shared ? requirement("rma.lock.excludes_shared")
                                                                    : requirement("rma.lock_all.excludes_exclusive"));
    int_window win(mpi, mpi.at(flavors()), far_end + 1);
    if (!win.made()) return;
    for (int round = 1; round <= 10; ++round) {
        if (mpi.rank % 2 == 1) {
            int const out = 100 * round + mpi.rank;
            mpi.ok(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
            mpi.ok(MPI_Put(&out, 1, MPI_INT, 0, win.at(0), 1, MPI_INT, win));
            mpi.ok(MPI_Win_flush(0, win));
            let_others_run();
            mpi.ok(MPI_Put(&out, 1, MPI_INT, 0, win.at(0, far_end), 1, MPI_INT, win));
            mpi.ok(MPI_Win_unlock(0, win));
        } else {
            acquire(mpi, win, 0);
            int const first = get_now(mpi, win, 0, 0);
            let_others_run();
            int const second = get_now(mpi, win, 0, far_end);
            release(mpi, win, 0);
            mpi.check(first == second, finding::data,
                      fmt::format("a reader got {} and {}: a writer came between", first, second));
        }
    }
    barrier(mpi);
}

// Rank 0 adds by loads and stores, the others by gets and puts.
ASSAY_TEST(rma, owner_counts, requirements{"rma.lock.protects_loads"},
           over(axis_use{&flavors()}, communicators::of({"world", "reversed"})),
           note{"a number that all ranks increase under an exclusive lock"}) {
    constexpr int rounds = 8;
    int_window win(mpi, mpi.at(flavors()), 1);
    if (!win.made()) return;
    for (int round = 0; round < rounds; ++round) {
        if (mpi.rank == 0) {
            win.locally([](int volatile* memory) {
                int const before = memory[0];
                usleep(100); // time for others to come between
                memory[0] = before + 1;
            });
        } else {
            mpi.ok(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
            int const out = get_now(mpi, win, 0, 0) + 1;
            mpi.ok(MPI_Put(&out, 1, MPI_INT, 0, win.at(0), 1, MPI_INT, win));
            mpi.ok(MPI_Win_unlock(0, win));
        }
    }
    barrier(mpi);
    if (mpi.rank == 0) expect_ints(mpi, win.content(), {rounds * mpi.size}, "the number");
    barrier(mpi);
}

// Each rank locks all windows, one by one, and releases them in another order.
ASSAY_TEST(rma, several_locks, requirements{"rma.lock.several"},
           over(axis_use{&flavors()}, communicators::of({"world", "self", "reversed"}))) {
    auto const n = static_cast<std::size_t>(mpi.size);
    int_window win(mpi, mpi.at(flavors()), n, int_window::use::passive, -1);
    if (!win.made()) return;
    std::vector<int> out(n);
    for (int round = 0; round < 2; ++round) {
        for (int step = 0; step < mpi.size; ++step)
            mpi.ok(MPI_Win_lock(MPI_LOCK_SHARED, (mpi.rank + step) % mpi.size, 0, win));
        for (int target = 0; target < mpi.size; ++target) {
            out[static_cast<std::size_t>(target)] = 1000 * (round + 1) + 10 * mpi.rank + target;
            mpi.ok(MPI_Put(&out[static_cast<std::size_t>(target)], 1, MPI_INT, target,
                           win.at(target, static_cast<std::size_t>(mpi.rank)), 1, MPI_INT, win));
        }
        for (int step = 0; step < mpi.size; ++step) // first the one that was locked in the middle
            mpi.ok(MPI_Win_unlock((mpi.rank + step + mpi.size / 2) % mpi.size, win));
        barrier(mpi);
        std::vector<int> expected;
        for (int origin = 0; origin < mpi.size; ++origin)
            expected.push_back(1000 * (round + 1) + 10 * origin + mpi.rank);
        expect_ints(mpi, win.content(), expected, "the window");
        barrier(mpi);
    }
}

ASSAY_TEST(rma, lock_all_alone, requirements{"rma.lock_all.alone", "rma.unlock_all"},
           over(only(locks, [](lock l) { return l == lock::all || l == lock::all_nocheck; }), axis_use{&flavors()},
                communicators::of({"world", "self", "reversed"})),
           note{"only the last rank calls MPI_Win_lock_all; what it put is there when MPI_Win_unlock_all is back"}) {
    int_window win(mpi, mpi.at(flavors()), 3, int_window::use::passive, -1);
    if (!win.made()) return;
    if (mpi.rank == mpi.size - 1) {
        std::vector<int> out(static_cast<std::size_t>(mpi.size));
        std::iota(out.begin(), out.end(), 800);
        acquire(mpi, win, 0);
        for (int target = 0; target < mpi.size; ++target)
            mpi.ok(MPI_Put(&out[static_cast<std::size_t>(target)], 1, MPI_INT, target, win.at(target, 1), 1, MPI_INT,
                           win));
        release(mpi, win, 0);
    }
    barrier(mpi);
    expect_ints(mpi, win.content(), {-1, 800 + mpi.rank, -1}, "the window");
    barrier(mpi);
}
