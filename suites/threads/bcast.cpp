// Keller: "Bcast w/ duplicated comms" — collective calls of several threads at once, each on a communicator of its own
// (MPI-5.0 sections 6.12 and 11.6.2), which the threads may also have made at the same time.
#include "suites/threads/threads.hpp"

using namespace assay;

namespace {
axis<bool> const dups("dup", {{{"before", "duplicated before the threads start"}, false},
                              {{"concurrent", "each thread duplicates, all at the same time"}, true}});
constexpr int rounds = 3;
} // namespace

ASSAY_TEST(threads, bcast, requirements{"threads.multiple", "threads.collective_order", "comm.dup.context"},
           over(axis_use{&dups}, axis_use{&threads::numbers()}, communicators::intra(), datatypes::all(),
                counts::ladder()),
           fits_memory(false), threads::few_types_elsewhere(), own_threads{threads::most},
           note{"each thread has another root"}) {
    mpi.in_threads(mpi.at(threads::numbers()), true, [](test_run& mine) {
        MPI_Comm comm = mine.comm;
        if (mine.at(dups)) {
            comm = MPI_COMM_NULL;
            if (!mine.ok(MPI_Comm_dup(mine.comm, &comm))) return;
            mine.ok(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
            int result = -1;
            mine.ok(MPI_Comm_compare(mine.comm, comm, &result));
            mine.check(result == MPI_CONGRUENT, finding::value, "a duplicate must be congruent to its original");
        }
        auto& data = mine.incoming();
        for (int round = 0; round < rounds; ++round) {
            int const root = (mine.thread() + round) % mine.size;
            auto const key = mine.key(0, root, 0, root, round);
            if (mine.rank == root) data.fill(key);
            else data.poison();
            mine.ok(MPI_Bcast(data, mine.count, mine.type, root, comm));
            data.expect(key, mine.elements, "from root " + std::to_string(root));
        }
        if (mine.at(dups)) {
            mine.ok(MPI_Comm_free(&comm));
            mine.check(comm == MPI_COMM_NULL, finding::value, "a freed communicator must have become MPI_COMM_NULL");
        }
    });
}
