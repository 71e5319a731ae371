// Keller: "Ring", "Ring Isend", "Ring Bsend", "Ring Persistent" of the threaded tests — as many rings as there are threads,
// at once (MPI-5.0 section 11.6: with MPI_THREAD_MULTIPLE any thread may call MPI at any time).
#include "suites/p2p/exchange.hpp"
#include "suites/threads/threads.hpp"

using namespace assay;
using namespace assay::p2p;

ASSAY_TEST(threads, ring, requirements{"threads.multiple", "threads.blocking", "p2p.send.data"},
           over(axis_use{&modes()}, axis_use{&receives()}, axis_use{&threads::numbers()}, axis_use{&threads::sharing()},
                communicators::intra(), datatypes::all(), counts::ladder()),
           sensible_receive(), blocking_needs_two(), fits_memory(false), threads::few_types_elsewhere(),
           own_threads{threads::most}) {
    int const n = mpi.at(threads::numbers());
    // The buffer of a process is for all its threads, and a persistent send starts twice.
    if (mpi.at(modes()).kind == send_mode::kind::buffered) mpi.attach_buffer(2 * n);
    mpi.in_threads(n, mpi.at(threads::sharing()), [](test_run& mine) {
        exchange(mine, ring(mine), {mine.at(modes()), mine.at(receives()), completion_by("wait")});
    });
}

// A request that one thread started may be completed by another (section 11.6.2).
ASSAY_TEST(threads, handover, requirements{"threads.request_any_thread", "p2p.completion"},
           over(axis_use{&completions()}, axis_use{&threads::numbers()}, axis_use{&threads::sharing()},
                communicators::intra(), datatypes::all(), counts::ladder()),
           fits_memory(false), threads::few_types_elsewhere(), own_threads{threads::most},
           note{"each thread completes the requests that its neighbour started"}) {
    struct started {
        buffer *out = nullptr, *in = nullptr;
        std::vector<MPI_Request> requests{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    };
    int const n = mpi.at(threads::numbers()), to = (mpi.rank + 1) % mpi.size,
              from = (mpi.rank - 1 + mpi.size) % mpi.size;
    std::vector<started> all(static_cast<std::size_t>(n));
    mpi.in_threads(n, mpi.at(threads::sharing()), [&](test_run& mine) {
        auto& s = all[static_cast<std::size_t>(mine.thread())];
        s.out = &mine.outgoing(to);
        s.in = &mine.incoming();
        mine.ok(MPI_Irecv(*s.in, mine.count, mine.type, from, mine.tag(), mine.comm, &s.requests[0]));
        mine.ok(MPI_Isend(*s.out, mine.count, mine.type, to, mine.tag(), mine.comm, &s.requests[1]));
    });
    mpi.in_threads(n, mpi.at(threads::sharing()), [&](test_run& mine) {
        int const theirs = (mine.thread() + 1) % n;
        auto& s = all[static_cast<std::size_t>(theirs)];
        auto const& starter = *std::next(mpi.lanes().begin(), theirs);
        auto const statuses = complete(mine, mine.at(completions()), s.requests);
        mine.expect(statuses[0]).source(from).tag(starter.first_tag()).count(mine.elements).not_cancelled();
        s.in->expect(starter.key_from(from), mine.elements, "from rank " + std::to_string(from));
        s.out->expect_unchanged();
    });
}
