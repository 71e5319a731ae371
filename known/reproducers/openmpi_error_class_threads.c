/* Several threads that add error classes at once get the same one.
 *
 * build: mpicc -pthread openmpi_error_class_threads.c -o threads       run: mpiexec -n 1 ./threads
 * MPI-5.0 section 9.5.1: the procedures that add error classes, codes and texts are thread-safe; 11.6.1: under
 *   MPI_THREAD_MULTIPLE all MPI calls are.
 * expected: every call gives a class that no other call gave.
 * observed: a few of the classes are given to two threads, or MPI_Finalize ends in a segmentation fault (Open MPI 4.1).
 */
// run: np=1 timeout=60 runs=5 flags=-pthread
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { threads = 4, each = 5000 };
static int classes[threads * each];
static pthread_barrier_t together;

static void ended(int number) {
    static char const text[] = "BUG: a segmentation fault\n";
    (void)number;
    if (write(1, text, sizeof text - 1) < 0) _exit(2);
    _exit(1);
}

static void* work(void* argument) {
    int i, *mine = argument;
    pthread_barrier_wait(&together);
    for (i = 0; i < each && MPI_Add_error_class(&mine[i]) == MPI_SUCCESS;) ++i;
    return NULL;
}

static int less(void const* a, void const* b) { return *(int const*)a - *(int const*)b; }

int main(int argc, char** argv) {
    pthread_t thread[threads];
    int i, provided, twice = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    signal(SIGSEGV, ended);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN); // a library need not have room for so many
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    pthread_barrier_init(&together, NULL, threads);
    for (i = 0; i < threads; ++i) pthread_create(&thread[i], NULL, work, classes + i * each);
    for (i = 0; i < threads; ++i) pthread_join(thread[i], NULL);
    qsort(classes, threads * each, sizeof(int), less);
    for (i = 1; i < threads * each; ++i) twice += classes[i] != 0 && classes[i] == classes[i - 1];
    if (twice > 0) printf("BUG: %d error classes were given to two threads\n", twice);
    fflush(stdout);
    MPI_Finalize();
    if (twice == 0) puts("OK");
    return twice > 0;
}
