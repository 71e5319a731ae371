#include "framework/yielding.hpp"

#include "framework/calls.hpp"

#include <cstdlib>
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

extern "C" unsigned poll_ucx(unsigned found, int times);

namespace {
int yields = 0;

// The first poll of the process reads the setting.
[[maybe_unused]] int const set_before = setenv("ASSAY_YIELD_POLLS", "20", 1);

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
    EXPECT_EQ(yields_of(0, 20), 0) << "and so may the first behind a yield";
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

// The thread sleeps, so that it gives its core away to whoever waits: the kernel counts that, and nothing for a mere sched_yield
// with nobody else there.
TEST(Yielding, SleepsInALongWaitAndAlwaysAmongThreads) {
    auto const given_away = [](int times) {
        rusage before{}, after{};
        getrusage(RUSAGE_THREAD, &before);
        for (int i = 0; i < times; ++i) EXPECT_EQ(assay::give_core_away(), 0);
        getrusage(RUSAGE_THREAD, &after);
        return after.ru_nvcsw - before.ru_nvcsw;
    };
    assay::entering("MPI_Recv");
    EXPECT_LT(given_away(20), 20);
    EXPECT_GE(given_away(1280), 10) << "every 128th one sleeps";
    long slept = 0;
    for (int i = 0; i < 10; ++i)
        for (char const* const procedure : {"MPI_Send", "MPI_Recv"}) {
            assay::entering(procedure);
            slept += given_away(100);
        }
    EXPECT_LT(slept, 2000 / 128 - 5) << "the count starts again in each procedure";
    assay::yield_among_threads();
    EXPECT_GE(given_away(20), 20);
}
