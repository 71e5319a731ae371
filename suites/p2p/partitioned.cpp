// A ring of partitioned messages (MPI-5.0 chapter 4): partitions become ready in another order than they lie in memory.
#include "suites/p2p/exchange.hpp"

#include <sched.h>

using namespace assay;

namespace {
axis<int> const partitions(
    "partitions",
    {{{"1", "one partition"}, 1}, {{"2", "two"}, 2}, {{"5", "five"}, 5}, {{"33", "33"}, 33}, {{"65", "65"}, 65}});
} // namespace

ASSAY_TEST(p2p, ring_partitioned, requirements{"partitioned.data", "partitioned.parrived", "partitioned.restart"},
           over(axis_use{&partitions}, communicators::intra(), datatypes::all(), counts::ladder(), placements::all()),
           needs_procedures({"MPI_Psend_init", "MPI_Precv_init", "MPI_Pready", "MPI_Parrived"}),
           where(type_axis(), count_ladder(), partitions,
                 [](datatype const& t, count_value const& c, int n) {
                     return static_cast<std::size_t>(std::abs(t.map.extent())) * c.of(t.map) *
                                static_cast<std::size_t>(n) <=
                            (std::size_t{16} << 20);
                 }),
           // Many partitions with few datatypes: what differs between datatypes shows with few partitions, too.
           where(type_axis(), partitions,
                 [](datatype const& t, int n) {
                     return n <= 5 || t.name == "int" || t.name == "double" || t.name == "vector_int";
                 }),
           note{"two rounds of the same requests"}, thread_safe{}) {
    int const n = mpi.at(partitions), to = (mpi.rank + 1) % mpi.size, from = (mpi.rank - 1 + mpi.size) % mpi.size;
    auto const total = mpi.elements * static_cast<std::size_t>(n);
    auto &out = mpi.incoming(total), &in = mpi.incoming(total);
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    mpi.ok(MPI_Precv_init(in, n, mpi.count, mpi.type, from, mpi.tag(), mpi.comm, MPI_INFO_NULL, &requests[0]));
    mpi.ok(MPI_Psend_init(out, n, mpi.count, mpi.type, to, mpi.tag(), mpi.comm, MPI_INFO_NULL, &requests[1]));
    for (int round = 0; round < 2; ++round) {
        out.fill(mpi.key_to(to, round));
        in.poison();
        mpi.ok(MPI_Startall(2, requests));
        for (int p = n - 1; p >= 0; --p) mpi.ok(MPI_Pready(p, requests[1])); // each once, the last first
        if (round == 1) // ask for each partition before waiting for all
            for (int p = 0; p < n; ++p)
                for (int arrived = 0; arrived == 0;) {
                    if (!mpi.ok(MPI_Parrived(requests[0], p, &arrived))) break;
                    if (arrived == 0) sched_yield();
                }
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
