/* MPICH: windows that several threads make at once, each over a communicator of its own, end in a segmentation fault.
 *
 * build: mpicc -pthread mpich_window_threads.c -o windows       run: mpiexec -n 2 ./windows
 * MPI-5.0 section 11.6.1: at MPI_THREAD_MULTIPLE all MPI calls are thread-safe; section 11.6.2: only concurrent collective calls on
 *   the same communicator need an order.
 * expected: each thread makes and frees its windows.
 * observed: a segmentation fault in one of five runs (MPICH 4.3.2, 5.0.2).
 */
// run: np=2 timeout=30 runs=25 flags=-pthread
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { threads = 4, rounds = 400 };
static MPI_Comm comms[threads];

static void ended(int number) {
    char const* const text = "BUG: a segmentation fault\n";
    (void)number;
    if (write(1, text, strlen(text)) < 0) _exit(2);
    _exit(1);
}
static void* work(void* argument) {
    int const me = *(int*)argument;
    char memory[64];
    int i;
    for (i = 0; i < rounds; ++i) {
        MPI_Win win;
        MPI_Win_create(memory, sizeof memory, 1, MPI_INFO_NULL, comms[me], &win);
        MPI_Win_free(&win);
    }
    return NULL;
}

int main(int argc, char** argv) {
    pthread_t all[threads];
    int i, provided, rank, numbers[threads];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    signal(SIGSEGV, ended);
    for (i = 0; i < threads; ++i) MPI_Comm_dup(MPI_COMM_SELF, &comms[i]);
    for (i = 0; i < threads; ++i) pthread_create(&all[i], NULL, work, (numbers[i] = i, &numbers[i]));
    for (i = 0; i < threads; ++i) pthread_join(all[i], NULL);
    for (i = 0; i < threads; ++i) MPI_Comm_free(&comms[i]);
    if (rank == 0) puts("OK");
    MPI_Finalize();
    return 0;
}
