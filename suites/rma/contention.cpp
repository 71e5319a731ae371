// Many ranks at one window at once (MPI-5.0 sections 12.3, 12.7, 12.7.1 and 12.8). What is checked is true in whatever order they
// come.
#include "suites/common/polling.hpp"
#include "suites/rma/int_window.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>

using namespace assay;
using namespace assay::rma;

namespace {

enum class by { accumulate, get_accumulate, fetch_and_op, raccumulate, rget_accumulate };
constexpr int procedures = 5;

enum class held { shared, all, mixed };
axis<held> const holds("lock", {{{"shared", "MPI_Win_lock, shared"}, held::shared},
                                {{"all", "MPI_Win_lock_all"}, held::all},
                                {{"mixed", "the one on ranks 0, 2, …, the other on the rest"}, held::mixed}});
bool holds_all(test_run const& mpi) {
    return mpi.at(holds) == held::all || (mpi.at(holds) == held::mixed && mpi.rank % 2 == 1);
}
void acquire(test_run& mpi, MPI_Win win, int target) {
    mpi.ok(holds_all(mpi) ? MPI_Win_lock_all(0, win) : MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win));
}
void release(test_run& mpi, MPI_Win win, int target) {
    mpi.ok(holds_all(mpi) ? MPI_Win_unlock_all(win) : MPI_Win_unlock(target, win));
}

// Adds one to the int at the target. What was there before, or -1 from the procedures that do not say.
int add_one(test_run& mpi, int_window& win, by procedure, int target) {
    int const one = 1;
    int before = -1;
    auto const at = win.at(target);
    MPI_Request request = MPI_REQUEST_NULL;
    switch (procedure) {
    case by::accumulate: mpi.ok(MPI_Accumulate(&one, 1, MPI_INT, target, at, 1, MPI_INT, MPI_SUM, win)); break;
    case by::get_accumulate:
        mpi.ok(MPI_Get_accumulate(&one, 1, MPI_INT, &before, 1, MPI_INT, target, at, 1, MPI_INT, MPI_SUM, win));
        break;
    case by::fetch_and_op: mpi.ok(MPI_Fetch_and_op(&one, &before, MPI_INT, target, at, MPI_SUM, win)); break;
    case by::raccumulate:
        mpi.ok(MPI_Raccumulate(&one, 1, MPI_INT, target, at, 1, MPI_INT, MPI_SUM, win, &request));
        break;
    case by::rget_accumulate:
        mpi.ok(
            MPI_Rget_accumulate(&one, 1, MPI_INT, &before, 1, MPI_INT, target, at, 1, MPI_INT, MPI_SUM, win, &request));
        break;
    }
    mpi.ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
    mpi.ok(MPI_Win_flush(target, win));
    return before;
}

} // namespace

// Each number is handed out at most once, each rank gets them in their order, and at the end all have been counted.
ASSAY_TEST(rma, counted, requirements{"rma.atomicity.calls", "rma.atomicity.locks"},
           over(axis_use{&holds}, axis_use{&flavors()}, communicators::of({"world", "self", "reversed"})),
           note{"every rank adds one to the same int, by each procedure in turns"}) {
    constexpr int rounds = 3 * procedures;
    auto const rests = mpi.resting_on(mpi.at(holds) == held::mixed ? requirement("rma.atomicity.locks")
                                                                   : requirement("rma.atomicity.calls"));
    int const total = rounds * mpi.size;
    // The int that is counted, then for each number how often it was handed out.
    int_window win(mpi, mpi.at(flavors()), static_cast<std::size_t>(total) + 1);
    if (!win.made()) return;
    std::vector<int> seen;
    acquire(mpi, win, 0);
    for (int round = 0; round < rounds; ++round) {
        int const before = add_one(mpi, win, static_cast<by>((round + mpi.rank) % procedures), 0);
        if (before < 0) continue;
        mpi.check(before < total && (seen.empty() || before > seen.back()), finding::order,
                  fmt::format("{} of {} was handed out after {}", before, total, seen.empty() ? -1 : seen.back()));
        if (before < total) seen.push_back(before);
    }
    int const one = 1;
    for (int const number : seen)
        mpi.ok(MPI_Accumulate(&one, 1, MPI_INT, 0, win.at(0, static_cast<std::size_t>(number) + 1), 1, MPI_INT, MPI_SUM,
                              win));
    release(mpi, win, 0);
    barrier(mpi);
    if (mpi.rank == 0) {
        auto const content = win.content();
        expect_int(mpi, content[0], total, "the int that all ranks have increased");
        for (std::size_t i = 1; i < content.size(); ++i)
            if (!mpi.check(content[i] <= 1, finding::data,
                           fmt::format("{} was handed out {} times", i - 1, content[i])))
                break;
    }
    barrier(mpi);
}

namespace {
enum class epoch_by { fence, post, lock, lock_all };
axis<epoch_by> const ways("sync", {{{"fence", "MPI_Win_fence"}, epoch_by::fence},
                                   {{"post", "MPI_Win_post, start, complete, wait"}, epoch_by::post},
                                   {{"lock", "MPI_Win_lock, shared"}, epoch_by::lock},
                                   {{"lock_all", "MPI_Win_lock_all"}, epoch_by::lock_all}});
bool is_passive(epoch_by how) { return how == epoch_by::lock || how == epoch_by::lock_all; }

// One epoch in which all ranks access rank 0.
template <class Accesses> void all_to_root(test_run& mpi, MPI_Win win, Accesses accesses) {
    auto const how = mpi.at(ways);
    std::vector<int> everybody;
    for (int rank = 0; mpi.rank == 0 && rank < mpi.size; ++rank) everybody.push_back(rank);
    some_ranks const targets(mpi, win, {0}), origins(mpi, win, everybody);
    switch (how) {
    case epoch_by::fence: mpi.ok(MPI_Win_fence(0, win)); break;
    case epoch_by::post:
        if (mpi.rank == 0) mpi.ok(MPI_Win_post(origins, 0, win));
        mpi.ok(MPI_Win_start(targets, 0, win));
        break;
    case epoch_by::lock: mpi.ok(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win)); break;
    case epoch_by::lock_all: mpi.ok(MPI_Win_lock_all(0, win)); break;
    }
    accesses();
    switch (how) {
    case epoch_by::fence: mpi.ok(MPI_Win_fence(MPI_MODE_NOSUCCEED, win)); break;
    case epoch_by::post:
        mpi.ok(MPI_Win_complete(win));
        if (mpi.rank == 0) mpi.ok(MPI_Win_wait(win));
        break;
    case epoch_by::lock: mpi.ok(MPI_Win_unlock(0, win)); break;
    case epoch_by::lock_all: mpi.ok(MPI_Win_unlock_all(win)); break;
    }
    barrier(mpi);
}
int_window::use use_of(test_run const& mpi) {
    return is_passive(mpi.at(ways)) ? int_window::use::passive : int_window::use::active;
}
std::vector<int> look(test_run const& mpi, int_window& win) {
    return is_passive(mpi.at(ways)) ? win.content() : win.loaded();
}

axis<int> const blocks("block", {{{"1", "single bytes"}, 1}, {{"3", "3 bytes"}, 3}, {{"16", "16 bytes"}, 16}});
} // namespace

// Byte i of the window of rank 0 is written by rank i / block % size.
ASSAY_TEST(rma, interleaved, requirements{"rma.put.disjoint"},
           over(axis_use{&ways}, axis_use{&flavors()}, axis_use{&blocks},
                communicators::of({"world", "self", "reversed"})),
           note{"puts of all ranks between each other's bytes"}) {
    constexpr int pieces = 500;
    int const block = mpi.at(blocks), all = pieces * block * mpi.size;
    auto const ints = static_cast<std::size_t>((all + 3) / 4 + 1);
    int_window win(mpi, mpi.at(flavors()), ints, use_of(mpi), -1);
    if (!win.made()) return;
    auto const mark = [](int rank, int at) { return static_cast<unsigned char>(1 + (50 * rank + at) % 251); };
    std::vector<unsigned char> out;
    for (int i = 0; i < pieces * block; ++i) out.push_back(mark(mpi.rank, i));
    MPI_Datatype pieces_of_rank = MPI_DATATYPE_NULL;
    mpi.ok(MPI_Type_vector(pieces, block, block * mpi.size, MPI_BYTE, &pieces_of_rank));
    // The first piece of a rank lies `rank` blocks from the base, and displacements count ints: a datatype that begins there.
    int const one = 1;
    MPI_Aint const first = static_cast<MPI_Aint>(block) * mpi.rank;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    mpi.ok(MPI_Type_create_hindexed(1, &one, &first, pieces_of_rank, &type));
    mpi.ok(MPI_Type_commit(&type));
    all_to_root(mpi, win, [&] { mpi.ok(MPI_Put(out.data(), pieces * block, MPI_BYTE, 0, win.at(0), 1, type, win)); });
    for (auto* t : {&pieces_of_rank, &type}) mpi.ok(MPI_Type_free(t));
    auto const content = look(mpi, win);
    auto const* const bytes = reinterpret_cast<unsigned char const*>(content.data());
    for (int i = 0; i < static_cast<int>(ints * sizeof(int)); ++i) {
        int const rank = i / block % mpi.size, at = i / (block * mpi.size) * block + i % block;
        auto const expected = mpi.rank == 0 && i < all ? mark(rank, at) : 0xff;
        if (!mpi.check(bytes[i] == expected, finding::data,
                       fmt::format("byte {} is {}, expected {}, of rank {}", i, int{bytes[i]}, int{expected}, rank)))
            break;
    }
    barrier(mpi);
}

ASSAY_TEST(rma, read_at_once, requirements{"rma.get.concurrent"},
           over(axis_use{&ways}, axis_use{&flavors()}, communicators::of({"world", "self", "reversed"}))) {
    constexpr int n = 5000;
    int_window win(mpi, mpi.at(flavors()), n, use_of(mpi), 321);
    if (!win.made()) return;
    std::array<std::vector<int>, 3> in;
    for (auto& one : in) one.assign(n, -7);
    all_to_root(mpi, win, [&] {
        for (auto& one : in) mpi.ok(MPI_Get(one.data(), n, MPI_INT, 0, win.at(0), n, MPI_INT, win));
    });
    for (auto const& one : in) expect_ints(mpi, one, std::vector<int>(n, 321), "what all ranks got at once");
    expect_ints(mpi, look(mpi, win), std::vector<int>(n, 321), "the window");
    barrier(mpi);
}

// What the location holds then is undefined (section 12.7); that nothing else changes and nothing is refused is not.
ASSAY_TEST(rma, conflicting, requirements{"rma.put.conflicting"},
           over(axis_use{&ways}, axis_use{&flavors()}, communicators::of({"world", "self", "reversed"}))) {
    int_window win(mpi, mpi.at(flavors()), 66, use_of(mpi), -1);
    if (!win.made()) return;
    std::vector<int> const out(64, mpi.rank);
    all_to_root(mpi, win, [&] {
        for (int i = 0; i < 3; ++i) mpi.ok(MPI_Put(out.data(), 64, MPI_INT, 0, win.at(0, 1), 64, MPI_INT, win));
    });
    auto content = look(mpi, win);
    expect_int(mpi, content.front(), -1, "the int before a location that all put to");
    expect_int(mpi, content.back(), -1, "the int after a location that all put to");
    barrier(mpi);
}

// Section 12.8: who swaps 0 for 1 is in the critical region. There two ints are read, increased and written.
ASSAY_TEST(rma, critical_region, requirements{"rma.mutex"},
           over(axis_use{&flavors()}, communicators::of({"world", "self", "reversed"}))) {
    constexpr int rounds = 5;
    constexpr std::size_t mutex = 0, first = 1, second = 2;
    int_window win(mpi, mpi.at(flavors()), 3);
    if (!win.made()) return;
    int const none = 0, taken = 1;
    mpi.ok(MPI_Win_lock_all(0, win));
    for (int round = 0; round < rounds; ++round) {
        until([&] {
            int before = -7;
            mpi.ok(MPI_Compare_and_swap(&taken, &none, &before, MPI_INT, 0, win.at(0, mutex), win));
            mpi.ok(MPI_Win_flush(0, win));
            mpi.check(before == none || before == taken, finding::data,
                      fmt::format("the lock is {}, which nobody wrote", before));
            return before != taken;
        });
        for (auto const where : {first, second}) {
            int value = -7;
            mpi.ok(MPI_Get(&value, 1, MPI_INT, 0, win.at(0, where), 1, MPI_INT, win));
            mpi.ok(MPI_Win_flush(0, win));
            ++value;
            mpi.ok(MPI_Put(&value, 1, MPI_INT, 0, win.at(0, where), 1, MPI_INT, win));
            mpi.ok(MPI_Win_flush(0, win));
        }
        int before = -7;
        mpi.ok(MPI_Compare_and_swap(&none, &taken, &before, MPI_INT, 0, win.at(0, mutex), win));
        mpi.ok(MPI_Win_flush(0, win));
        expect_int(mpi, before, taken, "the lock when it is released");
    }
    mpi.ok(MPI_Win_unlock_all(win));
    barrier(mpi);
    if (mpi.rank == 0)
        expect_ints(mpi, win.content(), {0, rounds * mpi.size, rounds * mpi.size}, "the window of rank 0");
    barrier(mpi);
}
