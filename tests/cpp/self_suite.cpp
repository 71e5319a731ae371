// The suite `self` of assay-suite-self: a ring of 2,000 cases that misbehave where the file named by ASSAY_SELF_FAULTS
// says so. It shows that the runner charges exactly the case and the rank at fault. Suite `lone` has jobs of one case,
// suite `blame` what is hard to blame on the right call and case. One line a fault:
//   <number of the case> <rank> segv|abort|spin|sleep|stop|_exit|exit|refuse|mpi_abort
#include "framework/mpi/own_job.hpp"
#include "framework/mpi/run.hpp"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fmt/format.h>
#include <fstream>
#include <map>
#include <thread>
#include <unistd.h>

using namespace assay;

namespace {

std::vector<axis<int>::entry> two_thousand() {
    std::vector<axis<int>::entry> entries;
    for (int i = 0; i < 2000; ++i) entries.push_back({{fmt::format("{:04}", i), "a case"}, i});
    return entries;
}
axis<int> const numbers("number", two_thousand());

using planned_faults = std::map<std::pair<int, int>, std::string>; // (case, rank) → what to do

planned_faults read_faults() {
    planned_faults faults;
    char const* path = std::getenv("ASSAY_SELF_FAULTS");
    if (path == nullptr) return faults;
    std::ifstream file(path);
    int number = 0, rank = 0;
    std::string kind;
    while (file >> number >> rank >> kind) faults[{number, rank}] = kind;
    return faults;
}

[[gnu::noinline]] void misbehave(test_run& mpi, std::string const& kind) {
    static int* volatile nowhere = nullptr;
    static int volatile spins = 0;
    if (kind == "segv") *nowhere = 1;
    else if (kind == "abort") std::abort();
    else if (kind == "spin")
        while (true) spins = spins + 1;
    else if (kind == "sleep")
        while (true) std::this_thread::sleep_for(std::chrono::hours(1));
    else if (kind == "stop") raise(SIGSTOP);
    else if (kind == "_exit") _exit(0);
    else if (kind == "exit") std::exit(3);
    else if (kind == "refuse") mpi.ok(MPI_Send(nullptr, 0, MPI_INT, mpi.size, mpi.tag(), mpi.comm)); // no such rank
    else if (kind == "mpi_abort") MPI_Abort(mpi.comm, 5);
    else mpi.check(false, finding::value, "unknown fault " + kind);
}

} // namespace

ASSAY_TEST(self, ring, requirements{"p2p.send.data"},
           over(axis_use{&numbers}, only(comm_axis(), [](communicator const& c) { return c.name == "world"; }))) {
    static auto const faults = read_faults();
    if (auto const fault = faults.find({mpi.at(numbers), mpi.rank}); fault != faults.end())
        return misbehave(mpi, fault->second);
    int const to = (mpi.rank + 1) % mpi.size, from = (mpi.rank + mpi.size - 1) % mpi.size;
    int const sent = mpi.at(numbers) * 100 + mpi.rank;
    int got = -1;
    MPI_Request request = MPI_REQUEST_NULL;
    mpi.ok(MPI_Irecv(&got, 1, MPI_INT, from, mpi.tag(), mpi.comm, &request));
    mpi.ok(MPI_Send(&sent, 1, MPI_INT, to, mpi.tag(), mpi.comm));
    mpi.ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
    mpi.check(got == mpi.at(numbers) * 100 + from, finding::data, fmt::format("received {} from rank {}", got, from));
}

// tests/e2e/test_blame.py says what is to be reported of each.
namespace {
axis_use only_comm(char const* name) {
    return only(comm_axis(), [name](communicator const& c) { return c.name == name; });
}
} // namespace

ASSAY_TEST(blame, constructor, requirements{"p2p.send.data"}, over(only_comm("world"))) {
    if (mpi.rank != 1) return;
    MPI_Datatype made = MPI_DATATYPE_NULL;
    int const code = MPI_Type_create_resized(MPI_DATATYPE_NULL, 0, 4, &made);
    int size = 0;
    MPI_Type_size(MPI_INT, &size); // as what cleans up calls something
    must(code, "MPI_Type_create_resized");
    mpi.check(false, finding::value, "the body goes on");
}

ASSAY_TEST(blame, error_text, requirements{"p2p.send.data"}, over(only_comm("world"))) {
    if (mpi.rank == 1) mpi.ok(MPI_Send(nullptr, 0, MPI_INT, mpi.size, mpi.tag(), mpi.comm)); // no such rank
}

// A message that is sent when its receiver has long ended the case.
ASSAY_TEST(blame, late, requirements{"p2p.send.data"}, over(only_comm("world"))) {
    if (mpi.rank == 0) mpi.tag();
    if (mpi.rank != 1) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    mpi.ok(MPI_Send(nullptr, 0, MPI_INT, 0, mpi.tag(), mpi.comm));
}

ASSAY_TEST(blame, made_by_the_catalogue, requirements{"p2p.send.data"}, over(only_comm("create_group"))) {
    mpi.check(mpi.size > 0, finding::value, "a communicator without members");
}

ASSAY_TEST(blame, thread_unsupported, requirements{"p2p.send.data"}, over(only_comm("world")), own_threads{2}) {
    mpi.in_threads(2, false, [](test_run& lane) {
        if (lane.thread() == 1) lane.unsupported("thread 1 finds nothing to do");
    });
}

// The last case of the launch: what blame.late has left comes to light here.
ASSAY_TEST(blame, world, requirements{"p2p.send.data"}, over(only_comm("world"))) {
    mpi.check(mpi.size > 1, finding::value, "one rank cannot show anything");
}

// Jobs of one case (framework/mpi/own_job.hpp): the runner tells an end that was announced from one that was not.
namespace {
enum class ending { in_peace, aborts, ignores, crashes, crashes_early, hangs };
axis<ending> const endings("ending", {{{"in_peace", "nothing ends it"}, ending::in_peace},
                                      {{"aborts", "announced, and so it is"}, ending::aborts},
                                      {{"ignores", "announced, and nothing comes"}, ending::ignores},
                                      {{"crashes", "announced, and it crashes"}, ending::crashes},
                                      {{"crashes_early", "not announced"}, ending::crashes_early},
                                      {{"hangs", "announced, and it hangs"}, ending::hangs}});
} // namespace

ASSAY_TEST(lone, job, requirements{"p2p.send.data"}, over(axis_use{&endings}), own_job{}) {
    auto const world = initialize(mpi);
    mpi.check(world.size == mpi.the_job.np, finding::value,
              fmt::format("{} processes instead of {}", world.size, mpi.the_job.np));
    switch (mpi.at(endings)) {
    case ending::in_peace: finalize(mpi); break;
    case ending::aborts:
        announce_end(9);
        MPI_Barrier(MPI_COMM_WORLD);
        if (world.rank == 1) MPI_Abort(MPI_COMM_WORLD, 9);
        else MPI_Barrier(MPI_COMM_WORLD);
        misbehave(mpi, "sleep"); // the end comes from the launcher, a moment after MPI_Abort has returned
        break;
    case ending::ignores:
        announce_end();
        finalize(mpi);
        break;
    case ending::crashes: announce_end(); [[fallthrough]];
    case ending::crashes_early:
        if (world.rank == 1) misbehave(mpi, "segv");
        MPI_Barrier(MPI_COMM_WORLD);
        break;
    case ending::hangs:
        announce_end();
        misbehave(mpi, "sleep");
        break;
    }
}
