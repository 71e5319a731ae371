// Each thread makes partitions of one message ready and looks for those that it is to read (MPI-5.0 chapter 4). Sender and
// receiver may cut the message into different numbers of partitions.
#include "suites/threads/threads.hpp"

#include <algorithm>
#include <sched.h>

using namespace assay;

namespace {
enum class cut { same, fewer, one, more };
axis<cut> const cuts("receive_partitions",
                     {{{"same", "as many partitions as on the sending side, one a thread"}, cut::same},
                      {{"fewer", "half as many"}, cut::fewer},
                      {{"one", "a single one"}, cut::one},
                      {{"more", "twice as many"}, cut::more}});
} // namespace

ASSAY_TEST(threads, ring_partitioned,
           requirements{"partitioned.data", "partitioned.parrived", "partitioned.restart", "partitioned.threads",
                        "partitioned.counts_differ"},
           over(axis_use{&cuts}, axis_use{&threads::numbers()}, communicators::intra(), datatypes::all(),
                only(count_ladder(), [](count_value const& c) { return c.kind == count_value::unit::elements; })),
           needs_procedures({"MPI_Psend_init", "MPI_Precv_init", "MPI_Pready", "MPI_Parrived"}), fits_memory(false),
           threads::few_types_elsewhere(), own_threads{threads::most},
           // Two threads: half as many is a single one.
           where(cuts, threads::numbers(), [](cut c, int n) { return c != cut::one || n > 2; }),
           note{"two rounds of the same requests; count is that of the smaller partitions"}) {
    int const n = mpi.at(threads::numbers()), to = (mpi.rank + 1) % mpi.size,
              from = (mpi.rank - 1 + mpi.size) % mpi.size;
    auto const c = mpi.at(cuts);
    int const receiving = c == cut::same ? n : c == cut::fewer ? n / 2 : c == cut::one ? 1 : 2 * n;
    int const pieces = std::max(n, receiving); // of `count` elements each
    auto const total = mpi.elements * static_cast<std::size_t>(pieces);
    auto &out = mpi.incoming(total), &in = mpi.incoming(total);
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    mpi.ok(MPI_Precv_init(in, receiving, MPI_Count{pieces / receiving} * mpi.count, mpi.type, from, mpi.tag(), mpi.comm,
                          MPI_INFO_NULL, &requests[0]));
    mpi.ok(MPI_Psend_init(out, n, MPI_Count{pieces / n} * mpi.count, mpi.type, to, mpi.tag(), mpi.comm, MPI_INFO_NULL,
                          &requests[1]));
    for (int round = 0; round < 2; ++round) {
        out.fill(mpi.key_to(to, round));
        in.poison();
        mpi.ok(MPI_Startall(2, requests));
        mpi.in_threads(n, false, [&](test_run& mine) {
            mine.ok(MPI_Pready(n - 1 - mine.thread(), requests[1]));
            for (int p = mine.thread(); p < receiving; p += n)
                for (int arrived = 0; arrived == 0;) {
                    if (!mine.ok(MPI_Parrived(requests[0], p, &arrived))) break;
                    if (arrived == 0) sched_yield();
                }
        });
        mpi.ok(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
        in.expect(mpi.key_from(from, round), total, "from rank " + std::to_string(from));
        out.expect_unchanged();
    }
    for (auto& request : requests) {
        mpi.check(request != MPI_REQUEST_NULL, finding::request, "a partitioned request must stay when it completes");
        if (request != MPI_REQUEST_NULL) mpi.ok(MPI_Request_free(&request));
        mpi.check_null(request);
    }
}
