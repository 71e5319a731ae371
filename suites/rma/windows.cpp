// Windows side by side and over each other, and what they may be made of (MPI-5.0 sections 12.2.1, 12.2.4, 12.5 and 12.7).
#include "suites/rma/int_window.hpp"

#include <array>
#include <fmt/format.h>
#include <memory>
#include <sys/mman.h>

using namespace assay;
using namespace assay::rma;

namespace {

constexpr std::size_t few = 16;

enum class source { heap, stack, fixed, alloc_mem, mapped };
axis<source> const sources("memory", {{{"heap", "memory of new"}, source::heap},
                                      {{"stack", "a variable on the stack"}, source::stack},
                                      {{"static", "a static variable"}, source::fixed},
                                      {{"alloc_mem", "memory of MPI_Alloc_mem"}, source::alloc_mem},
                                      {{"mapped", "memory of mmap"}, source::mapped}});
axis_use memory_takers() {
    return only(flavors(), [](flavor f) { return f == flavor::create || f == flavor::dynamic; });
}

int fixed_memory[few + 2];

// Puts around the ring into all but the first and the last of these ints.
void puts_into(test_run& mpi, flavor how, int* memory) {
    std::fill_n(memory, few + 2, -1);
    MPI_Win win = MPI_WIN_NULL;
    auto const bytes = static_cast<MPI_Aint>(few * sizeof(int));
    MPI_Aint at = 0;
    if (how == flavor::create) {
        if (!mpi.ok(MPI_Win_create(memory + 1, bytes, 1, MPI_INFO_NULL, mpi.comm, &win))) return;
    } else {
        if (!mpi.ok(MPI_Win_create_dynamic(MPI_INFO_NULL, mpi.comm, &win))) return;
        mpi.ok(MPI_Win_attach(win, memory + 1, bytes));
        at = gathered(mpi, address_of(mpi, memory + 1))[static_cast<std::size_t>(right_of(mpi))];
    }
    mpi.ok(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    std::array<int, few> out{};
    for (std::size_t i = 0; i < few; ++i) out[i] = 100 * mpi.rank + static_cast<int>(i);
    mpi.ok(MPI_Win_fence(0, win));
    mpi.ok(MPI_Put(out.data(), few, MPI_INT, right_of(mpi), at, few, MPI_INT, win));
    mpi.ok(MPI_Win_fence(0, win));
    for (std::size_t i = 0; i < few; ++i)
        expect_int(mpi, memory[i + 1], 100 * left_of(mpi) + static_cast<int>(i), "an int of the window");
    mpi.check(memory[0] == -1 && memory[few + 1] == -1, finding::guard, "memory beside the window was changed");
    if (how == flavor::dynamic) mpi.ok(MPI_Win_detach(win, memory + 1));
    mpi.ok(MPI_Win_free(&win));
}

} // namespace

ASSAY_TEST(rma, memory, requirements{"rma.create.any_memory", "rma.dynamic.any_memory"},
           over(axis_use{&sources}, memory_takers(), communicators::of({"world", "self", "reversed"}))) {
    auto const how = mpi.at(flavors());
    auto const rests = mpi.resting_on(how == flavor::create ? requirement("rma.create.any_memory")
                                                            : requirement("rma.dynamic.any_memory"));
    std::size_t const bytes = (few + 2) * sizeof(int);
    switch (mpi.at(sources)) {
    case source::heap: {
        auto const memory = std::make_unique<int[]>(few + 2);
        puts_into(mpi, how, memory.get());
        break;
    }
    case source::stack: {
        int memory[few + 2];
        puts_into(mpi, how, memory);
        break;
    }
    case source::fixed: puts_into(mpi, how, fixed_memory); break;
    case source::alloc_mem: {
        int* memory = nullptr;
        if (!mpi.ok(MPI_Alloc_mem(static_cast<MPI_Aint>(bytes), MPI_INFO_NULL, &memory))) break;
        puts_into(mpi, how, memory);
        mpi.ok(MPI_Free_mem(memory));
        break;
    }
    case source::mapped: {
        void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) mpi.unsupported("mmap gives no memory");
        puts_into(mpi, how, static_cast<int*>(memory));
        munmap(memory, bytes);
        break;
    }
    }
}

namespace {
enum class owners { none, odd, last };
axis<owners> const owning("owners", {{{"none", "no process has memory in the window"}, owners::none},
                                     {{"odd", "processes 1, 3, 5 … have"}, owners::odd},
                                     {{"last", "the last process has"}, owners::last}});
bool owns(test_run const& mpi, int rank) {
    auto const who = mpi.at(owning);
    return who == owners::odd ? rank % 2 == 1 : who == owners::last && rank == mpi.size - 1;
}
} // namespace

ASSAY_TEST(rma, no_memory, requirements{"rma.create.no_memory"},
           over(axis_use{&owning}, communicators::of({"world", "self", "reversed"})),
           note{"MPI_Win_create of size 0, and puts to those that have memory"}) {
    int own[2] = {-1, -1};
    bool const mine = owns(mpi, mpi.rank);
    MPI_Win win = MPI_WIN_NULL;
    if (!mpi.ok(
            MPI_Win_create(mine ? own : nullptr, mine ? sizeof(int) : 0, sizeof(int), MPI_INFO_NULL, mpi.comm, &win)))
        return;
    mpi.ok(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    int const out = 50 + mpi.rank;
    mpi.ok(MPI_Win_fence(0, win));
    if (owns(mpi, right_of(mpi))) mpi.ok(MPI_Put(&out, 1, MPI_INT, right_of(mpi), 0, 1, MPI_INT, win));
    mpi.ok(MPI_Win_fence(0, win));
    expect_int(mpi, own[0], mine ? 50 + left_of(mpi) : -1, "the int of the window");
    expect_int(mpi, own[1], -1, "the int after the window");
    mpi.ok(MPI_Win_free(&win));
}

ASSAY_TEST(rma, info_differs, requirements{"rma.create.info_differs", "info.freed"},
           over(axis_use{&flavors()}, communicators::of({"world", "reversed"})),
           note{"an info object on every other process, MPI_INFO_NULL on the rest"}) {
    MPI_Info info = MPI_INFO_NULL;
    if (mpi.rank % 2 == 1) {
        mpi.ok(MPI_Info_create(&info));
        mpi.ok(MPI_Info_set(info, "no_locks", "false"));
        mpi.ok(MPI_Info_set(info, "assay_unknown_hint", std::to_string(mpi.rank).c_str()));
    }
    int_window win(mpi, mpi.at(flavors()), 1, int_window::use::passive, -1, info);
    if (info != MPI_INFO_NULL) mpi.ok(MPI_Info_free(&info));
    if (!win.made()) return;
    int const out = 70 + mpi.rank;
    mpi.ok(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right_of(mpi), 0, win));
    mpi.ok(MPI_Put(&out, 1, MPI_INT, right_of(mpi), win.at(right_of(mpi)), 1, MPI_INT, win));
    mpi.ok(MPI_Win_unlock(right_of(mpi), win));
    barrier(mpi);
    expect_ints(mpi, win.content(), {70 + left_of(mpi)}, "the window");
}

namespace {
enum class overlap { fences, posts, locks, mixed };
axis<overlap> const overlaps("epochs",
                             {{{"fences", "an epoch of fences on each window, one within the other"}, overlap::fences},
                              {{"posts", "an exposure epoch on each window"}, overlap::posts},
                              {{"locks", "MPI_Win_lock_all on each window"}, overlap::locks},
                              {{"mixed", "fences on the first, MPI_Win_post on the second, MPI_Win_lock on the third"},
                               overlap::mixed}});
enum class means { fence, post, lock };

means means_of(overlap how, int window) {
    switch (how) {
    case overlap::fences: return means::fence;
    case overlap::posts: return means::post;
    case overlap::locks: return means::lock;
    default: return window == 0 ? means::fence : window == 1 ? means::post : means::lock;
    }
}
} // namespace

ASSAY_TEST(rma, side_by_side, requirements{"rma.windows.independent", "rma.epochs.other_windows"},
           over(axis_use{&overlaps}, axis_use{&flavors()}, communicators::of({"world", "self", "reversed", "dup"})),
           note{"the same displacement of three windows, two of them of the axis window"}) {
    auto const how = mpi.at(overlaps);
    auto const kind = mpi.at(flavors());
    auto const other = kind == flavor::allocate ? flavor::create : flavor::allocate;
    int_window a(mpi, kind, few), b(mpi, other, few), c(mpi, kind, few);
    std::array<int_window*, 3> const all{&a, &b, &c};
    for (auto const* win : all)
        if (!win->made()) return;
    mpi.check(MPI_Win(a) != MPI_Win(b) && MPI_Win(b) != MPI_Win(c) && MPI_Win(a) != MPI_Win(c), finding::window,
              "two windows have the same handle");
    int const to = right_of(mpi);
    some_ranks const target(mpi, a, {to}), origin(mpi, a, {left_of(mpi)});
    for (int round = 1; round <= 2; ++round) {
        for (int w = 0; w < 3; ++w) {
            auto const win = MPI_Win(*all[static_cast<std::size_t>(w)]);
            if (means_of(how, w) == means::fence) mpi.ok(MPI_Win_fence(0, win));
            else if (means_of(how, w) == means::post) mpi.ok(MPI_Win_post(origin, 0, win));
        }
        for (int w = 0; w < 3; ++w) {
            auto const win = MPI_Win(*all[static_cast<std::size_t>(w)]);
            if (means_of(how, w) == means::post) mpi.ok(MPI_Win_start(target, 0, win));
            else if (means_of(how, w) == means::lock) mpi.ok(MPI_Win_lock_all(0, win));
        }
        std::array<std::array<int, 3>, few> out{};
        for (std::size_t i = 0; i < few; ++i)
            for (std::size_t w = 0; w < 3; ++w) {
                out[i][w] = round * 1000000 + static_cast<int>(w) * 10000 + mpi.rank * 100 + static_cast<int>(i);
                mpi.ok(MPI_Put(&out[i][w], 1, MPI_INT, to, all[w]->at(to, i), 1, MPI_INT, *all[w]));
            }
        for (int w = 2; w >= 0; --w) { // the last one first
            auto const win = MPI_Win(*all[static_cast<std::size_t>(w)]);
            if (means_of(how, w) == means::fence) mpi.ok(MPI_Win_fence(0, win));
            else if (means_of(how, w) == means::post) mpi.ok(MPI_Win_complete(win));
            else mpi.ok(MPI_Win_unlock_all(win));
        }
        for (int w = 0; w < 3; ++w)
            if (means_of(how, w) == means::post) mpi.ok(MPI_Win_wait(*all[static_cast<std::size_t>(w)]));
        barrier(mpi); // all have unlocked
        for (std::size_t w = 0; w < 3; ++w) {
            std::vector<int> expected;
            for (std::size_t i = 0; i < few; ++i)
                expected.push_back(round * 1000000 + static_cast<int>(w) * 10000 + left_of(mpi) * 100 +
                                   static_cast<int>(i));
            bool const locked = means_of(how, static_cast<int>(w)) == means::lock;
            expect_ints(mpi, locked ? all[w]->content() : all[w]->loaded(), expected, "a window");
        }
        barrier(mpi); // all have looked
    }
}

// One window over all of the memory, one over its second half.
ASSAY_TEST(rma, overlapping, requirements{"rma.windows.same_memory", "rma.visible.other_window"},
           over(axis_use{&units()}, communicators::of({"world", "self", "reversed"})),
           where(units(), [](unit u) { return u != unit::by_rank; }),
           note{"a put through one window, a get through the other, after a fence on each"}) {
    int const scale = mpi.at(units()) == unit::byte ? 1 : static_cast<int>(sizeof(int));
    auto const at = [&](std::size_t i) { return static_cast<MPI_Aint>(i * sizeof(int)) / scale; };
    int* memory = nullptr;
    if (!mpi.ok(MPI_Alloc_mem(2 * few * sizeof(int), MPI_INFO_NULL, &memory))) return;
    std::fill_n(memory, 2 * few, -1);
    MPI_Win whole = MPI_WIN_NULL, half = MPI_WIN_NULL;
    mpi.ok(MPI_Win_create(memory, 2 * few * sizeof(int), scale, MPI_INFO_NULL, mpi.comm, &whole));
    mpi.ok(MPI_Win_create(memory + few, few * sizeof(int), scale, MPI_INFO_NULL, mpi.comm, &half));
    if (whole != MPI_WIN_NULL && half != MPI_WIN_NULL) {
        for (auto win : {whole, half}) mpi.ok(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
        int const to = right_of(mpi), from = left_of(mpi);
        int serial = 0;
        for (bool through_half : {false, true}) {
            auto const first = through_half ? half : whole, second = through_half ? whole : half;
            std::size_t const there = through_half ? 3 : few + 3, seen = through_half ? few + 3 : 3;
            int const out = 300 + 10 * ++serial + mpi.rank;
            int in = -7;
            mpi.ok(MPI_Win_fence(0, first));
            mpi.ok(MPI_Put(&out, 1, MPI_INT, to, at(there), 1, MPI_INT, first));
            mpi.ok(MPI_Win_fence(0, first));
            expect_int(mpi, memory[few + 3], 300 + 10 * serial + from, "what was put");
            mpi.ok(MPI_Win_fence(0, second));
            mpi.ok(MPI_Get(&in, 1, MPI_INT, to, at(seen), 1, MPI_INT, second));
            mpi.ok(MPI_Win_fence(0, second));
            mpi.check("rma.visible.other_window", in == out, finding::data,
                      fmt::format("through the other window {} was got, expected {}", in, out));
        }
        for (std::size_t i = 0; i < 2 * few; ++i)
            if (i != few + 3) expect_int(mpi, memory[i], -1, "an int that nobody accessed");
    }
    for (auto* win : {&half, &whole})
        if (*win != MPI_WIN_NULL) mpi.ok(MPI_Win_free(win));
    mpi.ok(MPI_Free_mem(memory));
}
