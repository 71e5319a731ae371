#include "suites/rma/int_window.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <new>

namespace assay::rma {

MPI_Aint address_of(test_run& mpi, void const* where) {
    MPI_Aint address = 0;
    mpi.ok(MPI_Get_address(where, &address));
    return address;
}

std::vector<MPI_Aint> gathered(test_run& mpi, MPI_Aint mine) {
    std::vector<MPI_Aint> all(static_cast<std::size_t>(mpi.size));
    for (int step = 0; step < mpi.size; ++step) {
        int const to = (mpi.rank + step) % mpi.size, from = (mpi.rank - step + mpi.size) % mpi.size;
        mpi.ok(MPI_Sendrecv(&mine, 1, MPI_AINT, to, mpi.tag(14), &all[static_cast<std::size_t>(from)], 1, MPI_AINT,
                            from, mpi.tag(14), mpi.comm, MPI_STATUS_IGNORE));
    }
    return all;
}

int_window::int_window(test_run& mpi, flavor how, std::size_t n, use as, int first, MPI_Info info)
    : mpi_(mpi), how_(how), n_(n) {
    if (how == flavor::shared && !all_share_memory(mpi))
        mpi.unsupported("the ranks of this communicator do not share memory");
    // Whole cache lines: windows of MPI_Win_allocate_shared follow each other. Other sizes: allocate.cpp.
    auto const bytes = static_cast<MPI_Aint>((n * sizeof(int) + 63) / 64 * 64);
    int const unit = sizeof(int);
    void* base = nullptr;
    if (how == flavor::create || how == flavor::dynamic) {
        if (!mpi.ok(MPI_Alloc_mem(std::max<MPI_Aint>(bytes, 64), MPI_INFO_NULL, &from_mpi_))) throw std::bad_alloc();
        base = from_mpi_;
        std::fill_n(static_cast<int*>(base), n, first);
    }
    int code = MPI_SUCCESS;
    switch (how) {
    case flavor::create: code = MPI_Win_create(base, bytes, unit, info, mpi.comm, &win_); break;
    case flavor::allocate: code = MPI_Win_allocate(bytes, unit, info, mpi.comm, &base, &win_); break;
    case flavor::shared: code = MPI_Win_allocate_shared(bytes, unit, info, mpi.comm, &base, &win_); break;
    case flavor::dynamic: code = MPI_Win_create_dynamic(info, mpi.comm, &win_); break;
    }
    if (!mpi.ok(code)) win_ = MPI_WIN_NULL;
    if (!made()) return;
    mpi.ok(MPI_Win_set_errhandler(win_, MPI_ERRORS_RETURN)); // errors of a window end the job otherwise (section 9.3)
    memory_ = static_cast<int*>(base);
    if (how == flavor::dynamic) {
        mpi.ok(MPI_Win_attach(win_, base, bytes));
        addresses_ = gathered(mpi, address_of(mpi, base));
    }
    if (as == use::active) {
        std::fill_n(memory_, n, first);
        return;
    }
    locally([&](int volatile* memory) { std::fill_n(memory, n, first); });
    barrier(mpi);
}

int_window::~int_window() {
    if (made()) {
        if (how_ == flavor::dynamic) {
            barrier(mpi_); // others may still access it
            mpi_.ok(MPI_Win_detach(win_, const_cast<int*>(memory_)));
        }
        mpi_.ok(MPI_Win_free(&win_));
    }
    if (from_mpi_ != nullptr) mpi_.ok(MPI_Free_mem(from_mpi_));
}

MPI_Aint int_window::at(int target, std::size_t index) const {
    if (how_ != flavor::dynamic) return static_cast<MPI_Aint>(index);
    return MPI_Aint_add(addresses_[static_cast<std::size_t>(target)], static_cast<MPI_Aint>(index * sizeof(int)));
}

std::vector<int> int_window::content() {
    std::vector<int> all;
    locally([&](int volatile*) { all = loaded(); });
    return all;
}

some_ranks::some_ranks(test_run& mpi, MPI_Win win, std::vector<int> const& ranks) : mpi_(mpi) {
    MPI_Group all = MPI_GROUP_NULL;
    mpi.ok(MPI_Win_get_group(win, &all));
    mpi.ok(MPI_Group_incl(all, static_cast<int>(ranks.size()), ranks.data(), &group_));
    mpi.ok(MPI_Group_free(&all));
}

void some_ranks::release() {
    // That of nobody is MPI_GROUP_EMPTY, a predefined handle (section 7.3.2).
    if (group_ != MPI_GROUP_NULL && group_ != MPI_GROUP_EMPTY) mpi_.ok(MPI_Group_free(&group_));
    group_ = MPI_GROUP_NULL;
}

void tell(test_run& mpi, int rank) {
    if (rank != mpi.rank) mpi.ok(MPI_Send(nullptr, 0, MPI_BYTE, rank, mpi.tag(13), mpi.comm));
}
void hear(test_run& mpi, int rank) {
    if (rank == mpi.rank) return;
    mpi.ok(MPI_Recv(nullptr, 0, MPI_BYTE, rank, mpi.tag(13), mpi.comm, MPI_STATUS_IGNORE));
}
void tell_and_hear(test_run& mpi, int to, int from) {
    mpi.ok(MPI_Sendrecv(nullptr, 0, MPI_BYTE, to, mpi.tag(13), nullptr, 0, MPI_BYTE, from, mpi.tag(13), mpi.comm,
                        MPI_STATUS_IGNORE));
}

void expect_int(test_run& mpi, int found, int expected, char const* what, std::source_location where) {
    mpi.check(found == expected, finding::data, fmt::format("{} is {}, expected {}", what, found, expected), where);
}

void expect_ints(test_run& mpi, std::vector<int> const& found, std::vector<int> const& expected, char const* what,
                 std::source_location where) {
    auto const [bad, good] = std::mismatch(found.begin(), found.end(), expected.begin(), expected.end());
    if (bad == found.end() && good == expected.end()) return;
    if (bad == found.end() || good == expected.end())
        mpi.check(false, finding::data,
                  fmt::format("{} has {} numbers, expected {}", what, found.size(), expected.size()), where);
    else
        mpi.check(false, finding::data,
                  fmt::format("number {} of {} is {}, expected {}", bad - found.begin(), what, *bad, *good), where);
}

} // namespace assay::rma
