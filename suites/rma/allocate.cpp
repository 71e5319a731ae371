// Windows without a byte to spare, of the same or of different sizes on the ranks (MPI-5.0 sections 12.2.2, 12.2.3 and
// 12.2.6): all of the memory that a rank is given is its window.
#include "framework/check/logical.hpp"
#include "suites/rma/window.hpp"

#include <algorithm>
#include <fmt/format.h>

using namespace assay;
using namespace assay::rma;

namespace {

axis<int> const widths("bytes", {{{"1", "one byte on rank 0"}, 1},
                                 {{"8", "8 bytes on rank 0"}, 8},
                                 {{"24", "24 bytes on rank 0"}, 24},
                                 {{"63", "63 bytes on rank 0"}, 63},
                                 {{"4097", "4097 bytes on rank 0"}, 4097}});

enum class spread { same, growing, every_second };
axis<spread> const spreads("sizes", {{{"same", "all ranks have as much"}, spread::same},
                                     {{"growing", "each rank has a byte more than the one before"}, spread::growing},
                                     {{"every_second", "ranks 1, 3, 5 … have no memory"}, spread::every_second}});

enum class maker { allocate, shared, apart };
axis<maker> const makers("memory", {{{"allocate", "MPI_Win_allocate"}, maker::allocate},
                                    {{"shared", "MPI_Win_allocate_shared"}, maker::shared},
                                    {{"apart", "MPI_Win_allocate_shared with alloc_shared_noncontig"}, maker::apart}});

std::size_t bytes_of(int rank, int width, spread how) {
    if (how == spread::every_second && rank % 2 == 1) return 0;
    return static_cast<std::size_t>(how == spread::growing ? width + rank : width);
}

unsigned char mark(int from, std::size_t at) {
    return static_cast<unsigned char>(1 + (static_cast<std::size_t>(from) * 29 + at) % 251);
}

MPI_Win make(test_run& mpi, maker how, std::size_t bytes, unsigned char*& base) {
    MPI_Win win = MPI_WIN_NULL;
    auto const size = static_cast<MPI_Aint>(bytes);
    if (how == maker::allocate) mpi.ok(MPI_Win_allocate(size, 1, MPI_INFO_NULL, mpi.comm, &base, &win));
    else {
        MPI_Info info = MPI_INFO_NULL;
        if (how == maker::apart) {
            mpi.ok(MPI_Info_create(&info));
            mpi.ok(MPI_Info_set(info, "alloc_shared_noncontig", "true"));
        }
        mpi.ok(MPI_Win_allocate_shared(size, 1, info, mpi.comm, &base, &win));
        if (info != MPI_INFO_NULL) mpi.ok(MPI_Info_free(&info));
    }
    return win;
}

// Who has how much where, and in one piece if that was not given up.
void query(test_run& mpi, MPI_Win win, unsigned char const* own) {
    unsigned char const* next = nullptr;
    for (int rank = 0; rank < mpi.size; ++rank) {
        auto const expected = static_cast<MPI_Aint>(bytes_of(rank, mpi.at(widths), mpi.at(spreads)));
        MPI_Aint size = -7;
        int unit = -7;
        unsigned char* base = nullptr;
        mpi.ok(MPI_Win_shared_query(win, rank, &size, &unit, &base));
        expect_shared_size(mpi, rank, size, expected, mpi.at(makers) == maker::apart);
        mpi.check(unit == 1, finding::window,
                  fmt::format("MPI_Win_shared_query gives unit {} for rank {}, expected 1", unit, rank));
        if (expected == 0) continue;
        if (rank == mpi.rank)
            mpi.check(base == own, finding::window, "the query gives another address than the window");
        if (mpi.at(makers) == maker::shared && next != nullptr)
            mpi.check(base == next, finding::window,
                      fmt::format("the memory of rank {} does not begin where that before it ends", rank));
        next = base + expected;
    }
}

} // namespace

ASSAY_TEST(rma, allocate,
           requirements{"rma.allocate", "rma.allocate.sizes_differ", "rma.allocate_shared", "rma.shared.sizes_differ",
                        "rma.put.whole_window", "rma.attributes", "rma.shared.query", "rma.shared.contiguous"},
           over(axis_use{&makers}, axis_use{&widths}, axis_use{&spreads},
                only(syncs(), [](sync_way s) { return s == sync_way::fence || s == sync_way::lock_exclusive; }),
                communicators::intra()),
           note{"each rank puts into all of the memory of its right neighbour"}, thread_safe{}) {
    bool const fence = mpi.at(syncs()) == sync_way::fence;
    int const right = (mpi.rank + 1) % mpi.size, left = (mpi.rank + mpi.size - 1) % mpi.size;
    auto const own = bytes_of(mpi.rank, mpi.at(widths), mpi.at(spreads));
    auto const there = bytes_of(right, mpi.at(widths), mpi.at(spreads));
    auto const how = mpi.at(makers);
    if (how != maker::allocate && !all_share_memory(mpi))
        mpi.unsupported("the ranks of this communicator do not share memory");
    unsigned char* base = nullptr;
    auto win = make(mpi, how, own, base);
    if (win == MPI_WIN_NULL) return;
    mpi.ok(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    if (how != maker::allocate) query(mpi, win, base);
    if (own > 0) {
        void* attribute = nullptr;
        int flag = 0;
        mpi.ok(MPI_Win_get_attr(win, MPI_WIN_BASE, &attribute, &flag));
        mpi.check(logical(flag) && attribute == base, finding::window,
                  "MPI_WIN_BASE is not the address of the memory that was returned");
    }

    auto const locked = [&](int rank, auto access) {
        if (!fence) mpi.ok(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win));
        access();
        if (!fence) mpi.ok(MPI_Win_unlock(rank, win));
    };
    auto const meet = [&] {
        if (fence) mpi.ok(MPI_Win_fence(0, win));
        else barrier(mpi);
    };
    std::vector<unsigned char> out(there);
    for (std::size_t i = 0; i < there; ++i) out[i] = mark(mpi.rank, i);
    meet();
    locked(mpi.rank, [&] { std::fill_n(base, own, poison_byte); });
    meet();
    locked(right, [&] {
        auto const n = static_cast<int>(there);
        mpi.ok(MPI_Put(out.data(), n, MPI_BYTE, right, 0, n, MPI_BYTE, win));
    });
    meet();
    locked(mpi.rank, [&] {
        for (std::size_t i = 0; i < own; ++i)
            if (!mpi.check(base[i] == mark(left, i), finding::data,
                           fmt::format("byte {} of a window of {} bytes is {:#04x}, expected {:#04x} from rank {}", i,
                                       own, base[i], mark(left, i), left)))
                break;
    });
    meet();
    mpi.ok(MPI_Win_free(&win));
}
