// Dynamic windows: memory that comes and goes (MPI-5.0 sections 12.2.4 and 12.2.5).
#include "suites/rma/int_window.hpp"

#include <array>
#include <fmt/format.h>

using namespace assay;
using namespace assay::rma;

namespace {

MPI_Win make_dynamic(test_run& mpi) {
    MPI_Win win = MPI_WIN_NULL;
    if (!mpi.ok(MPI_Win_create_dynamic(MPI_INFO_NULL, mpi.comm, &win))) return MPI_WIN_NULL;
    mpi.ok(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    return win;
}

MPI_Aint bytes_of(std::vector<int> const& region) { return static_cast<MPI_Aint>(region.size() * sizeof(int)); }

enum class way { fence, lock, lock_all };
axis<way> const ways("sync", {{{"fence", "MPI_Win_fence"}, way::fence},
                              {{"lock", "MPI_Win_lock"}, way::lock},
                              {{"lock_all", "MPI_Win_lock_all"}, way::lock_all}});

// An int to each of these addresses at the right neighbour, in one epoch, and one of `values` each.
void put_ints(test_run& mpi, MPI_Win win, std::vector<MPI_Aint> const& where, std::vector<int> const& values) {
    auto const how = mpi.at(ways);
    int const to = right_of(mpi);
    if (how == way::fence) mpi.ok(MPI_Win_fence(0, win));
    else if (how == way::lock) mpi.ok(MPI_Win_lock(MPI_LOCK_SHARED, to, 0, win));
    else mpi.ok(MPI_Win_lock_all(0, win));
    for (std::size_t i = 0; i < where.size(); ++i)
        mpi.ok(MPI_Put(&values[i], 1, MPI_INT, to, where[i], 1, MPI_INT, win));
    if (how == way::fence) mpi.ok(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
    else if (how == way::lock) mpi.ok(MPI_Win_unlock(to, win));
    else mpi.ok(MPI_Win_unlock_all(win));
    barrier(mpi);
    if (how == way::fence) return;
    mpi.ok(MPI_Win_lock(MPI_LOCK_SHARED, mpi.rank, 0, win));
    mpi.ok(MPI_Win_unlock(mpi.rank, win));
}

// Regions of different sizes, each with ints before and after it that belong to nothing.
constexpr std::array<std::size_t, 5> region_sizes{1, 16, 3, 4096, 250};

class regions {
public:
    explicit regions(test_run& mpi) : mpi_(mpi) {
        for (std::size_t i = 0; i < region_sizes.size(); ++i) all_.emplace_back(region_sizes[i] + 2, -1);
        for (auto const& one : all_) addresses_.push_back(gathered(mpi, address_of(mpi, one.data() + 1)));
    }
    int* base(std::size_t i) { return all_[i].data() + 1; }
    MPI_Aint bytes(std::size_t i) const { return static_cast<MPI_Aint>(region_sizes[i] * sizeof(int)); }
    MPI_Aint at_right(std::size_t i, std::size_t index) const {
        return MPI_Aint_add(addresses_[i][static_cast<std::size_t>(right_of(mpi_))],
                            static_cast<MPI_Aint>(index * sizeof(int)));
    }
    // Puts into the first and the last int of these regions of the right neighbour, and looks at all that came.
    void exchange(MPI_Win win, std::vector<std::size_t> const& some, int round) {
        std::vector<MPI_Aint> where;
        std::vector<int> values;
        auto const value = [&](std::size_t i, bool last, int rank) {
            return round * 10000 + static_cast<int>(i) * 1000 + rank * 10 + (last ? 1 : 0);
        };
        for (auto i : some)
            for (bool last : {false, true}) {
                where.push_back(at_right(i, last ? region_sizes[i] - 1 : 0));
                values.push_back(value(i, last, mpi_.rank));
                if (region_sizes[i] == 1) break;
            }
        put_ints(mpi_, win, where, values);
        for (auto i : some) {
            bool const one = region_sizes[i] == 1;
            expect_int(mpi_, base(i)[0], value(i, false, left_of(mpi_)), "the first int of a region");
            if (!one)
                expect_int(mpi_, base(i)[region_sizes[i] - 1], value(i, true, left_of(mpi_)),
                           "the last int of a region");
            mpi_.check(all_[i].front() == -1 && all_[i].back() == -1, finding::guard,
                       "memory beside a region was changed");
        }
        barrier(mpi_);
    }

private:
    test_run& mpi_;
    std::vector<std::vector<int>> all_;
    std::vector<std::vector<MPI_Aint>> addresses_; // by region and rank
};

} // namespace

ASSAY_TEST(rma, regions, requirements{"rma.dynamic.regions", "rma.dynamic.detach", "rma.dynamic.reattach"},
           over(axis_use{&ways}, communicators::of({"world", "self", "reversed"}))) {
    auto win = make_dynamic(mpi);
    if (win == MPI_WIN_NULL) return;
    regions all(mpi);
    for (std::size_t i : {3, 0, 4, 1, 2}) mpi.ok(MPI_Win_attach(win, all.base(i), all.bytes(i)));
    barrier(mpi);
    all.exchange(win, {0, 1, 2, 3, 4}, 1);
    {
        auto const rests = mpi.resting_on("rma.dynamic.detach");
        for (std::size_t i : {1, 3}) mpi.ok(MPI_Win_detach(win, all.base(i)));
        barrier(mpi);
        all.exchange(win, {0, 2, 4}, 2);
    }
    {
        auto const rests = mpi.resting_on("rma.dynamic.reattach");
        mpi.ok(MPI_Win_attach(win, all.base(1), all.bytes(1)));
        // Once as two regions that touch each other.
        mpi.ok(MPI_Win_attach(win, all.base(3), 1000 * sizeof(int)));
        mpi.ok(MPI_Win_attach(win, all.base(3) + 1000, all.bytes(3) - static_cast<MPI_Aint>(1000 * sizeof(int))));
        barrier(mpi);
        all.exchange(win, {1, 3}, 3);
        mpi.ok(MPI_Win_detach(win, all.base(3) + 1000));
        mpi.ok(MPI_Win_detach(win, all.base(3)));
        mpi.ok(MPI_Win_attach(win, all.base(3), all.bytes(3)));
        barrier(mpi);
        all.exchange(win, {3, 0, 1, 2, 4}, 4);
    }
    for (std::size_t i = 0; i < region_sizes.size(); ++i) mpi.ok(MPI_Win_detach(win, all.base(i)));
    mpi.ok(MPI_Win_free(&win));
}

// While all have locked the window, each process attaches more memory, at a time of its own.
ASSAY_TEST(rma, attach_late, requirements{"rma.dynamic.late", "rma.dynamic.local"},
           over(communicators::of({"world", "self", "reversed"})),
           note{"attach, put and detach within one epoch of MPI_Win_lock_all"}) {
    auto win = make_dynamic(mpi);
    if (win == MPI_WIN_NULL) return;
    std::vector<std::vector<int>> own;
    for (std::size_t i = 0; i < 3; ++i) own.emplace_back(100, -1);
    mpi.ok(MPI_Win_lock_all(0, win));
    // One after the other, so that no other process is in a call on the window.
    for (int turn = 0; turn < mpi.size; ++turn) {
        if (turn == mpi.rank)
            for (auto& region : own) mpi.ok(MPI_Win_attach(win, region.data(), bytes_of(region)));
        barrier(mpi);
    }
    std::vector<std::vector<MPI_Aint>> where;
    for (auto& region : own) where.push_back(gathered(mpi, address_of(mpi, region.data())));
    int const to = right_of(mpi);
    std::array<int, 3> out{};
    for (std::size_t i = 0; i < 3; ++i) {
        out[i] = 400 + 10 * static_cast<int>(i) + mpi.rank;
        mpi.ok(MPI_Put(&out[i], 1, MPI_INT, to,
                       MPI_Aint_add(where[i][static_cast<std::size_t>(to)], static_cast<MPI_Aint>(7 * sizeof(int))), 1,
                       MPI_INT, win));
    }
    mpi.ok(MPI_Win_flush(to, win));
    barrier(mpi);
    mpi.ok(MPI_Win_sync(win));
    for (std::size_t i = 0; i < 3; ++i) {
        std::vector<int> expected(100, -1);
        expected[7] = 400 + 10 * static_cast<int>(i) + left_of(mpi);
        expect_ints(mpi, own[i], expected, "a region that was attached within the epoch");
    }
    barrier(mpi);
    for (int turn = 0; turn < mpi.size; ++turn) {
        if (turn == mpi.rank)
            for (auto& region : own) mpi.ok(MPI_Win_detach(win, region.data()));
        barrier(mpi);
    }
    mpi.ok(MPI_Win_unlock_all(win));
    mpi.ok(MPI_Win_free(&win));
}

ASSAY_TEST(rma, nothing_attached, requirements{"rma.dynamic.empty"},
           over(axis_use{&ways}, communicators::of({"world", "self", "reversed"}))) {
    auto win = make_dynamic(mpi);
    if (win == MPI_WIN_NULL) return;
    put_ints(mpi, win, {}, {});
    put_ints(mpi, win, {}, {});
    mpi.ok(MPI_Win_free(&win));
    mpi.check(win == MPI_WIN_NULL, finding::window, "MPI_Win_free leaves a handle other than MPI_WIN_NULL");
}

ASSAY_TEST(rma, attach_no_bytes, requirements{"rma.dynamic.no_bytes"},
           over(axis_use{&ways}, communicators::of({"world", "self", "reversed"})),
           note{"beside a region with bytes"}) {
    auto win = make_dynamic(mpi);
    if (win == MPI_WIN_NULL) return;
    regions all(mpi);
    int nothing = -1;
    mpi.ok(MPI_Win_attach(win, &nothing, 0));
    mpi.ok(MPI_Win_attach(win, all.base(1), all.bytes(1)));
    barrier(mpi);
    mpi.ok(MPI_Win_detach(win, &nothing));
    all.exchange(win, {1}, 1);
    expect_int(mpi, nothing, -1, "the int where no byte was attached");
    mpi.ok(MPI_Win_detach(win, all.base(1)));
    mpi.ok(MPI_Win_free(&win));
}

ASSAY_TEST(rma, attached_twice, requirements{"rma.dynamic.two_windows", "rma.free.detaches"},
           over(axis_use{&ways}, communicators::of({"world", "self", "reversed"})),
           note{"the same memory in two windows; the first is freed with its memory attached, a third one follows"}) {
    auto first = make_dynamic(mpi), second = make_dynamic(mpi);
    if (first == MPI_WIN_NULL || second == MPI_WIN_NULL) return;
    std::vector<int> own(64, -1);
    for (auto win : {first, second}) mpi.ok(MPI_Win_attach(win, own.data(), bytes_of(own)));
    auto const base = gathered(mpi, address_of(mpi, own.data()))[static_cast<std::size_t>(right_of(mpi))];
    auto const look = [&](MPI_Win win, std::size_t index, int value) {
        put_ints(mpi, win, {MPI_Aint_add(base, static_cast<MPI_Aint>(index * sizeof(int)))}, {value + mpi.rank});
        expect_int(mpi, own[index], value + left_of(mpi), "an int of memory in two windows");
        barrier(mpi);
    };
    look(first, 5, 100);
    look(second, 5, 200);
    look(first, 63, 300);
    mpi.ok(MPI_Win_free(&first));
    auto const rests = mpi.resting_on("rma.free.detaches");
    look(second, 5, 400);
    auto third = make_dynamic(mpi);
    if (third != MPI_WIN_NULL) {
        mpi.ok(MPI_Win_attach(third, own.data(), bytes_of(own)));
        barrier(mpi);
        look(third, 6, 500);
        mpi.ok(MPI_Win_free(&third));
    }
    mpi.ok(MPI_Win_detach(second, own.data()));
    mpi.ok(MPI_Win_free(&second));
}
