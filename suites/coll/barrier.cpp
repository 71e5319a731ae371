// MPI_Barrier (MPI-5.0 section 6.3): nobody leaves before all have entered. One process comes late: it waits until all
// others say that they go in, and a moment longer. Whoever leaves says so; the late one must not hear it before it went in.
#include "suites/coll/algorithm.hpp"
#include "suites/coll/collective.hpp"

#include <chrono>
#include <sched.h>

using namespace assay;
using namespace assay::coll;

namespace {
constexpr auto moment = std::chrono::milliseconds(2); // far longer than a message takes to arrive
}

ASSAY_TEST(coll, barrier,
           requirements{"coll.barrier", "coll.barrier.intercommunicator", "coll.nonblocking", "coll.persistent"},
           over(small_starts(), axis_use{&roots()}, communicators::usable()), note{"the root comes late"},
           thread_safe{}) {
    auto const late = root_of(mpi);
    // On an intercommunicator only the other group has to wait for the late process, and messages only go there.
    bool const waits = late.other_side && !late.here;
    int const entering = mpi.tag(0), left = mpi.tag(1);
    auto const hear_from_all = [&](int tag) {
        for (int peer = 0; peer < late.partners; ++peer)
            if (mpi.inter || peer != mpi.rank)
                mpi.ok(MPI_Recv(nullptr, 0, MPI_BYTE, peer, tag, mpi.comm, MPI_STATUS_IGNORE));
    };
    for (calling c(mpi); c.next();) {
        if (waits) mpi.ok(MPI_Send(nullptr, 0, MPI_BYTE, late.rank, entering, mpi.comm));
        if (late.here) {
            hear_from_all(entering);
            int there = 0;
            auto status = poisoned_status();
            for (auto const until = std::chrono::steady_clock::now() + moment;
                 there == 0 && std::chrono::steady_clock::now() < until; sched_yield())
                mpi.ok(MPI_Iprobe(MPI_ANY_SOURCE, left, mpi.comm, &there, &status));
            mpi.check(there == 0, finding::order,
                      "rank " + std::to_string(status.MPI_SOURCE) + " left the barrier before this process entered it");
        }
        ASSAY_COLLECTIVE_SMALL(c, Barrier, Ibarrier, mpi.comm);
        if (waits) mpi.ok(MPI_Send(nullptr, 0, MPI_BYTE, late.rank, left, mpi.comm));
        if (late.here) hear_from_all(left);
    }
}

ASSAY_TEST(coll, barrier_algorithms, requirements{"coll.algorithms"},
           over(axis_use{&algorithms()}, algorithm_starts(), axis_use{&roots()}, algorithm_comms())) {
    chosen_algorithm chosen(mpi, started(mpi, "barrier"));
    body_coll_barrier(chosen.run());
}
