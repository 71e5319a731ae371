#include "framework/native/ranks.hpp"

#include "framework/plan/names.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace assay::native {
namespace {

constexpr char const* variable = "ASSAY_RANK"; // rank:size:descriptor of the board
constexpr int meeting_bits = 20;
constexpr std::uint64_t left = (std::uint64_t{1} << meeting_bits) - 1; // instead of a number of meetings

struct told {
    int rank = -1, size = 1, descriptor = -1;
};

told what_was_told() {
    told found;
    char const* const text = std::getenv(variable);
    if (text != nullptr && std::sscanf(text, "%d:%d:%d", &found.rank, &found.size, &found.descriptor) != 3)
        throw wrong_use{fmt::format("{}={}: only this program itself sets it", variable, text)};
    return found;
}

[[noreturn]] void become_rank(int rank, int np, int descriptor, char** argv) {
    setenv(variable, fmt::format("{}:{}:{}", rank, np, descriptor).c_str(), 1);
    execve("/proc/self/exe", argv, environ);
    fmt::print(stderr, "{}: cannot start rank {}: {}\n", program_invocation_short_name, rank, std::strerror(errno));
    _exit(3);
}

} // namespace

int own_rank() { return what_was_told().rank; }

int start_ranks(int np, char** argv, bool under_runner) {
    int const descriptor = memfd_create("assay-board", 0); // stays open in the ranks
    if (descriptor < 0 || ftruncate(descriptor, static_cast<off_t>(sizeof(board::place)) * np) != 0)
        throw wrong_use{fmt::format("no shared memory for {} ranks: {}", np, std::strerror(errno))};
    std::vector<pid_t> ranks;
    for (int rank = 0; rank < np; ++rank) {
        pid_t const pid = fork();
        if (pid == 0) become_rank(rank, np, descriptor, argv);
        if (pid > 0) ranks.push_back(pid);
    }
    int worst = static_cast<int>(ranks.size()) == np ? 0 : 3;
    for (int status = 0; !ranks.empty();) {
        pid_t const pid = wait(&status);
        if (pid < 0 && errno == EINTR) continue;
        if (pid < 0) break;
        std::erase(ranks, pid);
        bool const killed = WIFSIGNALED(status);
        worst = std::max(worst, killed ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
        // Nobody else ends, by hand, the ranks that wait for one that is gone: killed, or at its first failure.
        bool const gone = killed || (GTEST_FLAG_GET(fail_fast) && WEXITSTATUS(status) != 0);
        if (gone && !under_runner)
            for (pid_t const other : ranks) kill(other, SIGTERM);
    }
    return worst;
}

abandoned::abandoned(int rank, std::source_location where)
    : end_of_body(nullptr, fmt::format("rank {} left the case while this one waited for it", rank), where) {}

board& board::of_job() {
    static board it = [] {
        auto const [rank, size, descriptor] = what_was_told();
        auto const bytes = sizeof(place) * static_cast<std::size_t>(size);
        void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
        if (memory == MAP_FAILED) throw wrong_use{fmt::format("cannot see the board: {}", std::strerror(errno))};
        close(descriptor);
        board b;
        b.places_ = {static_cast<place*>(memory), static_cast<std::size_t>(size)};
        b.rank_ = rank;
        b.size_ = size;
        return b;
    }();
    return it;
}

void board::begin_case() {
    ++serial_;
    meetings_ = 0;
    places_[static_cast<std::size_t>(rank_)].word = false;
}

void board::leave_case() {
    auto& own = places_[static_cast<std::size_t>(rank_)];
    own.met = meetings_;
    own.at = serial_ << meeting_bits | left;
}

void board::await_all_left() {
    wait(serial_ << meeting_bits | left, false, [] {});
}

void board::meet(std::function<void()> const& meanwhile) {
    auto const here = serial_ << meeting_bits | ++meetings_;
    places_[static_cast<std::size_t>(rank_)].at = here;
    wait(here, true, meanwhile);
}

void board::wait(std::uint64_t until, bool in_case, std::function<void()> const& meanwhile) {
    for (int rank = 0; rank < size_; ++rank) {
        auto const& there = places_[static_cast<std::size_t>(rank)];
        for (int turns = 0; there.at < until; ++turns) {
            meanwhile();
            if (turns < 1000) sched_yield();
            else usleep(50); // somebody else is stuck: leave it the core
        }
        if (in_case && there.at == (serial_ << meeting_bits | left) && there.met < meetings_) throw abandoned(rank);
    }
}

std::vector<std::string> board::exchange(std::string const& mine, std::function<void()> const& meanwhile) {
    auto& own = places_[static_cast<std::size_t>(rank_)];
    if (mine.size() > own.bytes.size())
        throw std::length_error(fmt::format("{} bytes do not fit on the board", mine.size()));
    own.used = mine.size();
    std::copy(mine.begin(), mine.end(), own.bytes.begin());
    meet(meanwhile);
    std::vector<std::string> all;
    for (auto const& one : places_) all.emplace_back(one.bytes.data(), one.used);
    meet(meanwhile); // only then may anybody write again
    return all;
}

} // namespace assay::native
