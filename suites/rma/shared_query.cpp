// Where the memory of windows lies, and who can reach it by loads and stores (MPI-5.0 sections 12.2.2 and 12.2.3).
#include "suites/rma/int_window.hpp"

#include <cstddef>
#include <cstdint>
#include <fmt/format.h>

using namespace assay;
using namespace assay::rma;

namespace {

struct segment_of {
    MPI_Aint size = -7;
    int unit = -7;
    unsigned char* base = nullptr;
};
segment_of query(test_run& mpi, MPI_Win win, int rank) {
    segment_of found;
    mpi.ok(MPI_Win_shared_query(win, rank, &found.size, &found.unit, &found.base));
    return found;
}

enum class owners { none, last, odd, all };
axis<owners> const owning("owners", {{{"none", "no process has memory"}, owners::none},
                                     {{"last", "only the last one has"}, owners::last},
                                     {{"odd", "processes 1, 3, 5 … have"}, owners::odd},
                                     {{"all", "all have"}, owners::all}});
bool owns(test_run const& mpi, int rank) {
    switch (mpi.at(owning)) {
    case owners::none: return false;
    case owners::last: return rank == mpi.size - 1;
    case owners::odd: return rank % 2 == 1;
    default: return true;
    }
}
axis<bool> const apart("layout", {{{"contiguous", "in one piece"}, false},
                                  {{"apart", "with alloc_shared_noncontig = true"}, true}});

MPI_Info layout_info(test_run& mpi, bool noncontiguous, int alignment = 0) {
    MPI_Info info = MPI_INFO_NULL;
    mpi.ok(MPI_Info_create(&info));
    mpi.ok(MPI_Info_set(info, "alloc_shared_noncontig", noncontiguous ? "true" : "false"));
    if (alignment > 0) mpi.ok(MPI_Info_set(info, "mpi_minimum_memory_alignment", std::to_string(alignment).c_str()));
    return info;
}

bool aligned(void const* address, std::size_t to) { return reinterpret_cast<std::uintptr_t>(address) % to == 0; }

} // namespace

ASSAY_TEST(rma, query_nobody,
           requirements{"rma.shared.query.proc_null", "rma.shared.query.none", "rma.shared.query.unit",
                        "rma.shared.query.own", "rma.shared.sizes_differ"},
           over(axis_use{&owning}, axis_use{&apart}, communicators::of({"world", "self", "reversed"})),
           note{"MPI_Win_shared_query of MPI_PROC_NULL: of the first process that has memory"}) {
    if (!all_share_memory(mpi)) mpi.unsupported("the ranks of this communicator do not share memory");
    auto const bytes = [&](int rank) { return owns(mpi, rank) ? static_cast<MPI_Aint>(64 * (rank + 1)) : 0; };
    int const unit = 2 * mpi.rank + 1;
    unsigned char* own = nullptr;
    MPI_Win win = MPI_WIN_NULL;
    auto info = layout_info(mpi, mpi.at(apart));
    bool const made =
        mpi.ok(MPI_Win_allocate_shared(bytes(mpi.rank), unit, info, mpi.comm, &own, &win)) && win != MPI_WIN_NULL;
    mpi.ok(MPI_Info_free(&info));
    if (!made) return;
    mpi.ok(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    int first = -1;
    for (int rank = mpi.size - 1; rank >= 0; --rank)
        if (owns(mpi, rank)) first = rank;
    for (int rank = 0; rank < mpi.size; ++rank) {
        auto const found = query(mpi, win, rank);
        expect_shared_size(mpi, rank, found.size, bytes(rank), mpi.at(apart));
        if (!owns(mpi, rank)) continue; // what else is said of no memory is open
        mpi.check("rma.shared.query.unit", found.unit == 2 * rank + 1, finding::window,
                  fmt::format("the unit of rank {} is {}, expected {}", rank, found.unit, 2 * rank + 1));
        if (rank == mpi.rank)
            mpi.check("rma.shared.query.own", found.base == own, finding::window,
                      "the query gives another address than MPI_Win_allocate_shared");
    }
    auto const found = query(mpi, win, MPI_PROC_NULL);
    if (first < 0) {
        mpi.check("rma.shared.query.none", found.size == 0, finding::window,
                  fmt::format("nobody has memory, and MPI_PROC_NULL has {} bytes", found.size));
    } else {
        auto const same = query(mpi, win, first);
        mpi.check("rma.shared.query.proc_null",
                  found.size == same.size && found.unit == same.unit && found.base == same.base, finding::window,
                  fmt::format("MPI_PROC_NULL has {} bytes in units of {}; rank {}, the first with memory, {} in "
                              "units of {}, and maybe another address",
                              found.size, found.unit, first, same.size, same.unit));
    }
    mpi.ok(MPI_Win_free(&win));
}

namespace {
axis<int> const grains("bytes", {{{"1", "a byte more on each rank"}, 1},
                                 {{"64", "cache lines"}, 64},
                                 {{"5000", "more than a page"}, 5000}});
// Of mpi_minimum_memory_alignment.
axis<int> const alignments("alignment", {{{"default", "nothing is said of it"}, 0}, {{"256", "256 bytes"}, 256}});
} // namespace

// Each fills its own memory; then each looks at that of all, byte by byte.
ASSAY_TEST(rma, shared_bytes,
           requirements{"rma.shared.same_memory", "rma.shared.noncontiguous", "rma.shared.aligned",
                        "rma.allocate.minimum_alignment"},
           over(axis_use{&grains}, axis_use{&apart}, axis_use{&alignments},
                communicators::of({"world", "self", "reversed"}))) {
    if (!all_share_memory(mpi)) mpi.unsupported("the ranks of this communicator do not share memory");
    bool const separately = mpi.at(apart);
    auto const bytes = [&](int rank) { return static_cast<std::size_t>(mpi.at(grains) * (rank + 1)); };
    auto const mark = [](int rank, std::size_t i) {
        return static_cast<unsigned char>(7 * static_cast<std::size_t>(rank) + i % 31 + 1);
    };
    unsigned char* own = nullptr;
    MPI_Win win = MPI_WIN_NULL;
    int const alignment = mpi.at(alignments);
    auto info = layout_info(mpi, separately, alignment);
    bool const made =
        mpi.ok(MPI_Win_allocate_shared(static_cast<MPI_Aint>(bytes(mpi.rank)), 1, info, mpi.comm, &own, &win)) &&
        win != MPI_WIN_NULL;
    mpi.ok(MPI_Info_free(&info));
    if (!made) return;
    mpi.ok(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    if (mpi.rank == 0 || separately) {
        mpi.check("rma.shared.aligned", aligned(own, alignof(std::max_align_t)), finding::window,
                  fmt::format("the memory at {} suits no {}-byte datatype", fmt::ptr(own), alignof(std::max_align_t)));
        mpi.check("rma.allocate.minimum_alignment",
                  alignment == 0 || followed_version() < 40 || aligned(own, static_cast<std::size_t>(alignment)),
                  finding::window,
                  fmt::format("the memory is at {} under mpi_minimum_memory_alignment={}", fmt::ptr(own), alignment));
    }
    mpi.ok(MPI_Win_fence(0, win));
    for (std::size_t i = 0; i < bytes(mpi.rank); ++i) own[i] = mark(mpi.rank, i);
    mpi.ok(MPI_Win_fence(0, win));
    auto const rests =
        mpi.resting_on(separately ? requirement("rma.shared.noncontiguous") : requirement("rma.shared.same_memory"));
    for (int rank = 0; rank < mpi.size; ++rank) {
        unsigned char const volatile* const there = query(mpi, win, rank).base;
        if (!mpi.check(there != nullptr, finding::window, "the query gives no address")) continue;
        for (std::size_t i = 0; i < bytes(rank); ++i)
            if (there[i] != mark(rank, i)) {
                mpi.check(false, finding::data,
                          fmt::format("byte {} of rank {} is {} here, expected {}", i, rank, int{there[i]},
                                      int{mark(rank, i)}));
                break;
            }
    }
    mpi.ok(MPI_Win_fence(0, win));
    mpi.ok(MPI_Win_free(&win));
}

// Only MPI_Win_allocate_shared has to share; who says that others do has to be right.
ASSAY_TEST(rma, query_others, requirements{"rma.allocate.query"},
           over(only(flavors(), [](flavor f) { return f == flavor::create || f == flavor::allocate; }),
                communicators::of({"world", "self", "reversed"}))) {
    if (followed_version() < 41) mpi.unsupported("before MPI-4.1 only MPI_Win_allocate_shared allowed the query");
    int_window win(mpi, mpi.at(flavors()), 8, int_window::use::active, 0);
    if (!win.made()) return;
    for (std::size_t i = 0; i < 8; ++i) win.memory()[i] = 100 * mpi.rank + static_cast<int>(i);
    mpi.ok(MPI_Win_fence(0, win));
    for (int rank = 0; rank < mpi.size; ++rank) {
        auto const found = query(mpi, win, rank);
        if (found.size == 0) continue;
        mpi.check(found.size >= static_cast<MPI_Aint>(8 * sizeof(int)) && found.unit == sizeof(int), finding::window,
                  fmt::format("rank {} has {} bytes in units of {}, expected {} in units of {}", rank, found.size,
                              found.unit, 8 * sizeof(int), sizeof(int)));
        auto const volatile* const there = reinterpret_cast<int const volatile*>(found.base);
        for (int i = 0; there != nullptr && i < 8; ++i)
            expect_int(mpi, there[i], 100 * rank + i, "an int at the address of the query");
    }
    mpi.ok(MPI_Win_fence(0, win));
}

namespace {
axis<long> const amounts("bytes", {{{"1", ""}, 1}, {{"100", ""}, 100}, {{"70000", ""}, 70000}});
} // namespace

ASSAY_TEST(rma, allocate_aligned, requirements{"rma.allocate.aligned", "rma.allocate.minimum_alignment"},
           over(axis_use{&amounts}, communicators::of({"world", "self"}))) {
    for (int wanted : {0, 128, 4096}) {
        MPI_Info info = wanted > 0 ? layout_info(mpi, false, wanted) : MPI_INFO_NULL;
        std::vector<MPI_Win> wins(3, MPI_WIN_NULL);
        for (auto& win : wins) {
            void* base = nullptr;
            mpi.ok(MPI_Win_allocate(mpi.at(amounts) + mpi.rank, 1, info, mpi.comm, &base, &win));
            mpi.check("rma.allocate.aligned", aligned(base, alignof(std::max_align_t)), finding::window,
                      fmt::format("MPI_Win_allocate gives {}, which suits no {}-byte datatype", fmt::ptr(base),
                                  alignof(std::max_align_t)));
            mpi.check(
                "rma.allocate.minimum_alignment",
                wanted == 0 || followed_version() < 40 || aligned(base, static_cast<std::size_t>(wanted)),
                finding::window,
                fmt::format("MPI_Win_allocate gives {} under mpi_minimum_memory_alignment={}", fmt::ptr(base), wanted));
        }
        for (auto& win : wins)
            if (win != MPI_WIN_NULL) mpi.ok(MPI_Win_free(&win));
        if (info != MPI_INFO_NULL) mpi.ok(MPI_Info_free(&info));
    }
}
