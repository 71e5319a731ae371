// What a library says of its threads (MPI-5.0 section 11.6.3).
#include "framework/check/logical.hpp"
#include "suites/threads/threads.hpp"

using namespace assay;

ASSAY_TEST(threads, level, requirements{"threads.query_thread", "threads.is_thread_main"},
           over(axis_use{&threads::numbers()}), own_threads{threads::most}) {
    mpi.in_threads(mpi.at(threads::numbers()), false, [](test_run& mine) {
        int level = -7;
        mine.ok(MPI_Query_thread(&level));
        mine.check(level == MPI_THREAD_MULTIPLE, finding::value,
                   "MPI_Query_thread gives " + std::to_string(level) + ", not MPI_THREAD_MULTIPLE");
        bool const main_thread = mine.thread() == 0;
        int flag = opposite(main_thread);
        mine.ok(MPI_Is_thread_main(&flag));
        mine.check(logical(flag) == main_thread, finding::value,
                   "MPI_Is_thread_main gives " + std::to_string(flag) +
                       (main_thread ? " in the thread that initialized MPI" : " in another thread"));
    });
}
