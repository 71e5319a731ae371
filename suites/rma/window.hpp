// Windows and their synchronization (MPI-5.0 chapter 12): how a window is made × how accesses to it are synchronized.
// Tests of this folder say who accesses whom and what each window holds before and after; the rest is axes.
#pragma once
#include "framework/mpi/run.hpp"

#include <vector>

namespace assay::rma {

// ---- Windows

enum class flavor { create, allocate, dynamic, shared };
axis<flavor> const& flavors();

// What a target displacement is counted in.
enum class unit { byte, extent, by_rank };
axis<unit> const& units();

// Whether the window is made with an info object of hints that hold (section 12.2.1).
axis<bool> const& hints();

// Displacements of a dynamic window are addresses: its unit is one byte.
constraint sensible_unit();

// Whether all ranks of the case's communicator are in one shared memory domain (section 7.4.2). Collective.
bool all_share_memory(test_run& mpi);
// Judges the size that MPI_Win_shared_query gives for a rank. Where memory need not be contiguous, it may be padded (section
// 12.2.3), and only good if it is not.
void expect_shared_size(test_run& mpi, int rank, MPI_Aint found, MPI_Aint expected, bool may_be_padded,
                        std::source_location where = std::source_location::current());

struct window_kind {
    flavor how = flavor::create;
    unit counted_in = unit::byte;
    bool with_hints = false;
};

// A window with room for `slots` times `elements` elements of `map` on every rank of the case's communicator, and at
// least 64 bytes around them inside the window. Its content is undefined until memory() is filled.
class window {
public:
    // Collective. `locks`: passive target synchronization is going to be used.
    window(test_run& mpi, window_kind kind, layout const& map, std::size_t elements, int slots, bool locks);
    ~window(); // collective: frees it
    window(window const&) = delete;
    window& operator=(window const&) = delete;

    operator MPI_Win() const { return win_; }
    bool made() const { return win_ != MPI_WIN_NULL; } // otherwise a finding says why
    int locks() const { return locks_; }

    buffer& memory() { return *memory_; } // all of this rank's window, as elements of `map`
    segment slot(int slot) const;         // where a slot lies in memory()
    MPI_Aint displacement(int target, int slot) const;
    void* base() const { return base_; }
    // Of any rank: bytes of its window, its displacement unit, bytes from its base to the address of the first element.
    MPI_Aint size(int rank) const;
    int unit_of(int rank) const;
    std::size_t first_byte(int rank) const;

private:
    std::size_t stride(int rank) const;   // elements from slot to slot
    std::size_t elements(int rank) const; // of all slots
    MPI_Info info() const;
    void create();
    void take_memory();

    test_run& mpi_;
    window_kind kind_;
    layout const& map_;
    std::size_t elements_;
    int slots_;
    bool locks_;
    MPI_Win win_ = MPI_WIN_NULL;
    std::vector<unsigned char> own_;  // memory for the window and around it,
    void* from_mpi_ = nullptr;        // or from MPI_Alloc_mem
    std::span<unsigned char> around_; // all of it; empty when MPI gives the memory with the window
    void* base_ = nullptr;
    buffer* memory_ = nullptr;
    std::vector<MPI_Aint> addresses_; // dynamic: the base of each rank
};

// ---- Synchronization

enum class sync_way {
    fence,
    fence_asserts,
    post,
    post_test,
    post_asserts,
    lock_exclusive,
    lock_shared,
    lock_nocheck,
    lock_flush,
    lock_flush_local,
    lock_all,
    lock_all_flush,
    lock_all_flush_local,
};
axis<sync_way> const& syncs();
// Without those that say MPI_MODE_NOCHECK: several epochs of these are a matter of rma.nocheck.
axis_use checked_syncs();
bool passive(sync_way how); // passive target: the only one in which requests are permitted (section 12.3.5)

// One round of accesses, as every rank goes through it:
//   store([…]{ local stores to the own window })
//   for each target: begin, the accesses, flush, end
//   flush_all
//   finish, look at the own window, leave
// No rank loads from or stores to its window while others may access it, and the calls make both memory models (section
// 12.4) see the same.
class epoch {
public:
    // `updates`: the accesses change windows.
    epoch(test_run& mpi, window& w, sync_way how, std::vector<int> targets, std::vector<int> origins, bool updates);
    ~epoch();
    epoch(epoch const&) = delete;
    epoch& operator=(epoch const&) = delete;

    template <class Fill> void store(Fill fill) {
        before_store();
        fill();
        after_store();
    }
    void begin(int target);
    bool flush(int target); // whether the accesses to this target are complete at the origin now
    void end(int target);
    bool flush_all(); // whether all accesses are complete at the origin now
    void finish();
    void leave();

private:
    void before_store();
    void after_store();
    void lock(int kind, int target, int assertion);
    void unlock(int target);

    test_run& mpi_;
    window& window_;
    sync_way how_;
    std::vector<int> targets_, origins_;
    bool updates_;
    MPI_Group targets_group_ = MPI_GROUP_NULL, origins_group_ = MPI_GROUP_NULL;
};

// All ranks of the case's communicator, by messages: some libraries' MPI_Barrier is slow with more ranks than cores.
void barrier(test_run& mpi);

// ---- Patterns: who accesses whom

struct pattern {
    std::vector<int> targets, origins;                                // of this rank
    int slots = 1;                                                    // of each window
    int slot_of(int origin) const { return slots == 1 ? 0 : origin; } // each origin has a slot of its own
};
enum class shape { ring, alltoall, to_root, from_root };
axis<shape> const& patterns();
pattern pattern_of(test_run const& mpi, shape which);

} // namespace assay::rma
