/* Several threads that add error classes at once get the same one.
 *
 * build: mpicc -pthread openmpi_error_class_threads.c -o threads       run: mpiexec -n 1 ./threads
 * MPI-5.0 section 9.5.1: the procedures that add error classes, codes and texts are thread-safe; 11.6.1: under
 *   MPI_THREAD_MULTIPLE all MPI calls are.
 * expected: every call gives a class that no other call gave.
 * observed: a few of the classes are given to two threads, or the process crashes or hangs (Open MPI 4.1, 5.0).
 */
// run: np=1 timeout=60 runs=20 flags=-pthread by=timing
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { threads = 4, each = 50000 };
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
    for (i = 0; i < each; ++i) MPI_Add_error_class(&mine[i]);
    return NULL;
}

static int less(void const* a, void const* b) { return *(int const*)a - *(int const*)b; }

int main(int argc, char** argv) {
    pthread_t thread[threads];
    int i, provided, twice = 0;
#ifndef OPEN_MPI
    puts("N/A"); // others have no room for so many; mpich_error_code_threads.c is for them
    return 0;
#endif
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    signal(SIGSEGV, ended);
    pthread_barrier_init(&together, NULL, threads);
    for (i = 0; i < threads; ++i) pthread_create(&thread[i], NULL, work, classes + i * each);
    for (i = 0; i < threads; ++i) pthread_join(thread[i], NULL);
    qsort(classes, threads * each, sizeof(int), less);
    for (i = 1; i < threads * each; ++i) twice += classes[i] == classes[i - 1];
    if (twice > 0) printf("BUG: %d error classes were given to two threads\n", twice);
    fflush(stdout);
    MPI_Finalize();
    if (twice == 0) puts("OK");
    return twice > 0;
}
