/* MPICH: MPI_UNIVERSE_SIZE that several threads ask for at once.
 *
 * build: mpicc -pthread mpich_universe_threads.c -o universe       run: mpiexec -n 2 ./universe
 * MPI-5.0 section 11.6.1: at MPI_THREAD_MULTIPLE all MPI calls are thread-safe; two concurrently running threads may make MPI
 *   calls and the outcome is as if they executed in some order.
 * expected: each thread gets the value, or that it is not set.
 * observed: in most runs MPI_Comm_get_attr does not return (MPICH 4.3.2, 5.0.2).
 */
// run: np=2 timeout=30 runs=10 flags=-pthread
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void ended(int number) {
    char const* const text =
        number == SIGALRM ? "BUG: MPI_Comm_get_attr does not return\n" : "BUG: a segmentation fault\n";
    if (write(1, text, strlen(text)) < 0) _exit(2);
    _exit(1);
}
static void* work(void* argument) {
    int* value = NULL;
    int flag = 0;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &value, &flag);
    return argument;
}

int main(int argc, char** argv) {
    pthread_t threads[4];
    int i, provided, rank;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    signal(SIGSEGV, ended);
    signal(SIGALRM, ended);
    alarm(10);
    for (i = 0; i < 4; ++i) pthread_create(&threads[i], NULL, work, NULL);
    for (i = 0; i < 4; ++i) pthread_join(threads[i], NULL);
    if (rank == 0) puts("OK");
    MPI_Finalize();
    return 0;
}
