// The end of windows and what becomes of their memory (MPI-5.0 section 12.2.5), and that each window has memory of its own
// (12.2.2).
#include "suites/rma/int_window.hpp"

#include <array>
#include <fmt/format.h>
#include <fstream>
#include <sys/mman.h>
#include <unistd.h>

using namespace assay;
using namespace assay::rma;

namespace {

// Of this process, in bytes: all of its address space.
long address_space() {
    long pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    return pages * sysconf(_SC_PAGESIZE);
}

axis_use givers_of_memory() {
    return only(flavors(), [](flavor f) { return f == flavor::allocate || f == flavor::shared; });
}

MPI_Win give(test_run& mpi, std::size_t bytes, unsigned char*& base) {
    MPI_Win win = MPI_WIN_NULL;
    auto const size = static_cast<MPI_Aint>(bytes);
    if (mpi.at(flavors()) == flavor::allocate) mpi.ok(MPI_Win_allocate(size, 1, MPI_INFO_NULL, mpi.comm, &base, &win));
    else mpi.ok(MPI_Win_allocate_shared(size, 1, MPI_INFO_NULL, mpi.comm, &base, &win));
    return win;
}

} // namespace

ASSAY_TEST(rma, memory_freed, requirements{"rma.free.memory"},
           over(givers_of_memory(), communicators::of({"world", "self"})),
           note{"40 windows of 4 MiB one after the other: the address space does not grow by all of them"}) {
    if (mpi.at(flavors()) == flavor::shared && !all_share_memory(mpi))
        mpi.unsupported("the ranks of this communicator do not share memory");
    constexpr std::size_t mib4 = std::size_t{4} << 20;
    constexpr int rounds = 40;
    long before = 0;
    for (int round = 0; round < rounds + 4; ++round) {
        if (round == 4) before = address_space(); // the first ones may open what all need
        unsigned char* base = nullptr;
        auto win = give(mpi, mib4, base);
        if (win == MPI_WIN_NULL) return;
        base[0] = base[mib4 - 1] = 1;
        mpi.ok(MPI_Win_free(&win));
    }
    long const grown = address_space() - before;
    mpi.check(grown < static_cast<long>(mib4) * rounds / 2, finding::window,
              fmt::format("the address space has grown by {} bytes after {} windows of {} bytes were freed", grown,
                          rounds, mib4));
}

ASSAY_TEST(rma, distinct_memory, requirements{"rma.allocate.distinct"},
           over(givers_of_memory(), communicators::of({"world", "self", "reversed"}))) {
    if (mpi.at(flavors()) == flavor::shared && !all_share_memory(mpi))
        mpi.unsupported("the ranks of this communicator do not share memory");
    constexpr std::array<std::size_t, 4> sizes{17, 4096, 1, 100000};
    std::array<unsigned char*, 4> bases{};
    std::array<MPI_Win, 4> wins{};
    for (std::size_t w = 0; w < sizes.size(); ++w) wins[w] = give(mpi, sizes[w], bases[w]);
    auto const value = [&](std::size_t w, std::size_t i) {
        return static_cast<unsigned char>(17 * w + 3 * static_cast<std::size_t>(mpi.rank) + i);
    };
    for (std::size_t w = 0; w < sizes.size(); ++w)
        for (std::size_t i = 0; bases[w] != nullptr && i < sizes[w]; ++i) bases[w][i] = value(w, i);
    barrier(mpi);
    for (std::size_t w = 0; w < sizes.size(); ++w)
        for (std::size_t i = 0; bases[w] != nullptr && i < sizes[w]; ++i)
            if (bases[w][i] != value(w, i)) {
                mpi.check(false, finding::data, fmt::format("byte {} of window {} was changed through another", i, w));
                break;
            }
    barrier(mpi);
    for (auto& win : wins)
        if (win != MPI_WIN_NULL) mpi.ok(MPI_Win_free(&win));
}

// The memory goes as soon as MPI_Win_free is back, and the next window is where it was.
ASSAY_TEST(rma, memory_of_user, requirements{"rma.free.memory_of_user"},
           over(communicators::of({"world", "self", "reversed"}))) {
    constexpr std::size_t ints = 4096;
    void* wanted = nullptr;
    for (int round = 0; round < 3; ++round) {
        void* const memory =
            mmap(wanted, ints * sizeof(int), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) return;
        wanted = memory;
        auto* const own = static_cast<int*>(memory);
        MPI_Win win = MPI_WIN_NULL;
        if (mpi.ok(MPI_Win_create(own, ints * sizeof(int), sizeof(int), MPI_INFO_NULL, mpi.comm, &win))) {
            mpi.ok(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
            int const out = 600 + 10 * round + mpi.rank;
            mpi.ok(MPI_Win_fence(0, win));
            mpi.ok(MPI_Put(&out, 1, MPI_INT, right_of(mpi), ints - 1, 1, MPI_INT, win));
            mpi.ok(MPI_Win_fence(0, win));
            mpi.ok(MPI_Win_free(&win));
            expect_int(mpi, own[ints - 1], 600 + 10 * round + left_of(mpi), "an int of memory that was a window");
        }
        munmap(memory, ints * sizeof(int));
    }
}

// Process 0 frees the window at once; the others still put into its memory.
ASSAY_TEST(rma, free_waits, requirements{"rma.free.waits"},
           over(only(flavors(), [](flavor f) { return f == flavor::create; }),
                communicators::of({"world", "reversed"}))) {
    constexpr std::size_t each = 1000;
    std::vector<int> expected;
    int* memory = nullptr;
    auto const ints = each * static_cast<std::size_t>(mpi.size);
    if (!mpi.ok(MPI_Alloc_mem(static_cast<MPI_Aint>(ints * sizeof(int)), MPI_INFO_NULL, &memory))) return;
    std::fill_n(memory, ints, -1);
    MPI_Win win = MPI_WIN_NULL;
    if (mpi.ok(MPI_Win_create(memory, static_cast<MPI_Aint>(ints * sizeof(int)), sizeof(int), MPI_INFO_NULL, mpi.comm,
                              &win))) {
        mpi.ok(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
        int flag = 0, *model = nullptr;
        mpi.ok(MPI_Win_get_attr(win, MPI_WIN_MODEL, &model, &flag));
        bool const unified = flag != 0 && *model == MPI_WIN_UNIFIED; // else nobody loads what was put after the end
        if (mpi.rank != 0) {
            usleep(1000 * static_cast<unsigned>(mpi.rank));
            std::vector<int> const out(each, mpi.rank);
            mpi.ok(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
            mpi.ok(MPI_Put(out.data(), each, MPI_INT, 0, static_cast<MPI_Aint>(each) * mpi.rank, each, MPI_INT, win));
            mpi.ok(MPI_Win_unlock(0, win));
        }
        mpi.ok(MPI_Win_free(&win));
        if (mpi.rank == 0 && unified) {
            for (int rank = 0; rank < mpi.size; ++rank) expected.insert(expected.end(), each, rank == 0 ? -1 : rank);
            expect_ints(mpi, {memory, memory + ints}, expected, "memory of a window when MPI_Win_free is back");
        }
    }
    mpi.ok(MPI_Free_mem(memory));
}
