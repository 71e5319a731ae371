// The processes of a job without MPI: copies of this program on one machine, started by the first one, that share a board.
// On it they exchange addresses and wait for each other, outside of the library under test.
#pragma once
#include "framework/check/body.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <source_location>
#include <span>
#include <string>
#include <vector>

namespace assay::native {

// The rank of this process; -1 in the process that was started by hand or by the runner.
int own_rank();

// Starts `np` copies of this program with the same arguments and waits for them. Returns the exit code: that of the worst rank.
// Without a runner, which would find out, all are ended when one dies by a signal.
int start_ranks(int np, char** argv, bool under_runner);

// A rank left the case while this one waited for it there.
struct abandoned : end_of_body {
    explicit abandoned(int rank, std::source_location where = std::source_location::current());
};

// Memory that all ranks of the job share.
class board {
public:
    static board& of_job(); // in a rank

    int size() const { return size_; }
    void begin_case();     // every rank, in the same order
    void leave_case();     // sets free who waits
    void await_all_left(); // no rank is in the case any more
    // Waits until all ranks have come here as often as this one did within the case; `meanwhile` is called over and over, so
    // that a library without threads of its own gets on. Throws abandoned.
    void meet(std::function<void()> const& meanwhile);
    // What each rank brought, by rank.
    std::vector<std::string> exchange(std::string const& mine, std::function<void()> const& meanwhile);

    // A word to whoever looks: false at the beginning of a case.
    void say() { places_[static_cast<std::size_t>(rank_)].word = true; }
    bool has_said(int rank) const { return places_[static_cast<std::size_t>(rank)].word; }

    struct place {
        alignas(64) std::atomic<std::uint64_t> at; // number of the case and how often it has been to meet(), or `left`
        std::atomic<std::uint64_t> met;            // how often it has been to meet() when it left
        std::atomic<bool> word;
        std::size_t used;
        std::array<char, 4000> bytes;
    };

private:
    void wait(std::uint64_t until, bool in_case, std::function<void()> const& meanwhile);

    std::span<place> places_;
    int rank_ = 0, size_ = 1;
    std::uint64_t serial_ = 0, meetings_ = 0;
};

} // namespace assay::native
