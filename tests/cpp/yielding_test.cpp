#include "framework/yielding/yielding.hpp"

#include "framework/process/calls.hpp"

#include <atomic>
#include <cstdlib>
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <set>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

extern "C" unsigned poll_ucx(unsigned found, int times);

namespace {
int yields = 0;

// The first poll of the process reads the setting.
[[maybe_unused]] int const set_before = setenv("ASSAY_YIELD_POLLS", "20", 1) + setenv("ASSAY_YIELD_EVERY", "4", 1);

int yields_of(unsigned found, int times) {
    int const before = yields;
    EXPECT_EQ(poll_ucx(found, times), found * static_cast<unsigned>(times));
    return yields - before;
}
} // namespace

extern "C" int sched_yield() noexcept {
    ++yields;
    return static_cast<int>(syscall(SYS_sched_yield));
}

TEST(Yielding, PollsThatFindNothingYieldAndOthersDoNot) {
    EXPECT_EQ(yields_of(1, 100), 0);
    EXPECT_EQ(yields_of(0, 20), 0) << "the first polls may find something yet";
    EXPECT_EQ(yields_of(0, 1), 1);
    EXPECT_EQ(yields_of(0, 20), 0) << "and so may the first after a yield";
    EXPECT_EQ(yields_of(0, 22), 2);
    EXPECT_EQ(yields_of(1, 1), 0);
    EXPECT_EQ(yields_of(0, 20), 0) << "what was found starts the count again";
    EXPECT_EQ(yields_of(1, 1), 0);
}

TEST(Yielding, ReadsOfAQueueOfLibfabricThatFindNothingYield) {
    void* const library = dlopen(ASSAY_WAITING_OFI, RTLD_NOW);
    ASSERT_NE(library, nullptr) << dlerror();
    auto const open_queue = reinterpret_cast<int (*)()>(dlsym(library, "open_queue"));
    auto const read_queue = reinterpret_cast<int (*)(int times, int with_source)>(dlsym(library, "read_queue"));
    ASSERT_EQ(open_queue(), 0);
    poll_ucx(1, 1);
    int before = yields;
    EXPECT_EQ(read_queue(20, 0), 20);
    EXPECT_EQ(yields, before);
    EXPECT_EQ(read_queue(1, 0), 1);
    EXPECT_EQ(yields - before, 1);
    EXPECT_EQ(read_queue(21, 1), 21);
    EXPECT_EQ(yields - before, 2);
}

namespace {
// How often this thread has given its core away: the kernel counts each sleep, and a yield where another task takes the core.
struct given {
    long slept, yielded;
};

given given_away(int times) {
    rusage before{}, after{};
    getrusage(RUSAGE_THREAD, &before);
    for (int i = 0; i < times; ++i) EXPECT_EQ(assay::give_core_away(), 0);
    getrusage(RUSAGE_THREAD, &after);
    return {after.ru_nvcsw - before.ru_nvcsw, after.ru_nivcsw - before.ru_nivcsw};
}

int core_of_rank(int rank) {
    int core = -1;
    std::thread([&] {
        assay::keep_to_a_core(rank);
        cpu_set_t found;
        if (sched_getaffinity(0, sizeof found, &found) != 0 || CPU_COUNT(&found) != 1) return;
        for (core = 0; !CPU_ISSET(core, &found);) ++core;
    }).join();
    return core;
}
} // namespace

// Who sets nothing gets the system as it is: `give_core_away` is then the system call.
TEST(Yielding, IsWhatTheEnvironmentAsksFor) {
    EXPECT_EQ(assay::settings_of_environment().polls, 20);
    EXPECT_EQ(assay::settings_of_environment().every, 4);
    unsetenv("ASSAY_YIELD_POLLS");
    unsetenv("ASSAY_YIELD_EVERY");
    EXPECT_EQ(assay::settings_of_environment().polls, 0);
    EXPECT_EQ(assay::settings_of_environment().every, 0);
}

TEST(Yielding, RanksKeepToTheCoresInTurns) {
    cpu_set_t allowed;
    ASSERT_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
    int const cores = CPU_COUNT(&allowed);
    std::set<int> used;
    for (int rank = 0; rank < cores; ++rank) used.insert(core_of_rank(rank));
    EXPECT_EQ(used.size(), static_cast<std::size_t>(cores));
    for (int const core : used) EXPECT_TRUE(core >= 0 && CPU_ISSET(core, &allowed)) << core;
    EXPECT_EQ(core_of_rank(cores), core_of_rank(0));
}

TEST(Yielding, ThreeOfFourCallsOnlyReturn) {
    std::thread([] {
        assay::keep_to_a_core(0);
        std::atomic<bool> there = false, done = false;
        std::thread other([&] { // on the same core
            for (there = true; !done;) syscall(SYS_sched_yield);
        });
        while (!there) syscall(SYS_sched_yield);
        assay::entering("MPI_Recv");
        long const yielded = given_away(400).yielded;
        EXPECT_GE(yielded, 20);
        EXPECT_LE(yielded, 100 + 5) << "the kernel may have taken the core, too";
        done = true;
        other.join();
    }).join();
}

TEST(Yielding, SleepsInALongWaitAndAlwaysAmongThreads) {
    assay::entering("MPI_Send");
    EXPECT_LT(given_away(20).slept, 20);
    EXPECT_GE(given_away(5120).slept, 10) << "each 128th yield sleeps";
    long slept = 0;
    for (int i = 0; i < 10; ++i)
        for (char const* const procedure : {"MPI_Send", "MPI_Recv"}) {
            assay::entering(procedure);
            slept += given_away(400).slept;
        }
    EXPECT_LT(slept, 8000 / 512 - 5) << "the count starts again in each procedure";
    assay::yield_among_threads();
    EXPECT_GE(given_away(20).slept, 20);
}
