// A window of ints, for tests about synchronization or about windows themselves, not about the data that moves (for that:
// window.hpp).
#pragma once
#include "suites/rma/window.hpp"

#include <vector>

namespace assay::rma {

class int_window {
public:
    enum class use { passive, active }; // active: MPI_Win_lock is not called, so that no_locks may hold

    // Collective over the communicator of the case. `n` ints on this rank; the others may have other numbers. They are `first`,
    // which accesses see after the next fence or post, or after passive() and a barrier.
    int_window(test_run& mpi, flavor how, std::size_t n, use as = use::passive, int first = 0,
               MPI_Info info = MPI_INFO_NULL);
    ~int_window(); // collective: frees it
    int_window(int_window const&) = delete;
    int_window& operator=(int_window const&) = delete;

    operator MPI_Win() const { return win_; }
    bool made() const { return win_ != MPI_WIN_NULL; } // otherwise a finding says why
    std::size_t size() const { return n_; }
    int volatile* memory() const { return memory_; }
    MPI_Aint at(int target,
                std::size_t index = 0) const; // displacement of an int: ints, in a dynamic window an address
    void forget() { win_ = MPI_WIN_NULL; }    // the test has freed it

    // Loads from and stores to the own memory under an exclusive lock of it.
    template <class Body> void locally(Body body) {
        mpi_.ok(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, mpi_.rank, 0, win_));
        body(memory_);
        mpi_.ok(MPI_Win_unlock(mpi_.rank, win_));
    }
    std::vector<int> loaded() const { return {memory_, memory_ + n_}; } // without a lock
    std::vector<int> content();                                         // under one

private:
    test_run& mpi_;
    flavor how_;
    std::size_t n_;
    MPI_Win win_ = MPI_WIN_NULL;
    int volatile* memory_ = nullptr;
    void* from_mpi_ = nullptr; // of MPI_Alloc_mem: what can be locked portably (section 12.5.3)
    std::vector<MPI_Aint> addresses_;
};

// Of every rank, at every rank.
std::vector<MPI_Aint> gathered(test_run& mpi, MPI_Aint mine);
// The address as MPI knows it (MPI_Get_address).
MPI_Aint address_of(test_run& mpi, void const* where);

// Ranks of the ring.
inline int right_of(test_run const& mpi) { return (mpi.rank + 1) % mpi.size; }
inline int left_of(test_run const& mpi) { return (mpi.rank + mpi.size - 1) % mpi.size; }

// A group of some ranks of the window, freed at the end of the scope.
class some_ranks {
public:
    some_ranks(test_run& mpi, MPI_Win win, std::vector<int> const& ranks);
    ~some_ranks() { release(); }
    some_ranks(some_ranks const&) = delete;
    some_ranks& operator=(some_ranks const&) = delete;
    operator MPI_Group() const { return group_; }
    void release();

private:
    test_run& mpi_;
    MPI_Group group_ = MPI_GROUP_NULL;
};

// A message without content from one rank to another, nothing to oneself. A send may wait for its receive: who tells and hears
// in a circle uses the third.
void tell(test_run& mpi, int rank);
void hear(test_run& mpi, int rank);
void tell_and_hear(test_run& mpi, int to, int from);

// Findings: what a number is and what it has to be.
void expect_int(test_run& mpi, int found, int expected, char const* what,
                std::source_location where = std::source_location::current());
void expect_ints(test_run& mpi, std::vector<int> const& found, std::vector<int> const& expected, char const* what,
                 std::source_location where = std::source_location::current());

} // namespace assay::rma
