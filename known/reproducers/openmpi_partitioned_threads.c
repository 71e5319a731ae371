/* Open MPI: partitioned messages of several threads lose and mix up their data under MPI_THREAD_MULTIPLE.
 *
 * build: mpicc -pthread openmpi_partitioned_threads.c -o part_threads     run: mpiexec -n 2 ./part_threads [threads]
 *   (default 8; it depends on timing, so run it several times; 1 thread is right). Needs MPI-4.0; Open MPI 5 has the calls early.
 * MPI-5.0 section 11.6.1: calls of several threads have the outcome of some order of them; section 4.2.1: a partitioned
 *   message is matched by communicator, tag and source, and each thread here has tags of its own.
 * expected: each receive gets the bytes of its own round.
 * observed: buffers that stay as they were, bytes of messages with another tag, now and then a crash (Open MPI 5.0.11).
 */
// run: np=2 timeout=20 runs=6 flags=-pthread args=16
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { bytes = 65539, set_ups = 30 };
static int rank, size, broken;

static void* exchange(void* argument) {
    int const thread = (int)(long)argument;
    char *const out = malloc(bytes), *const in = malloc(bytes);
    for (int set_up = 0; set_up < set_ups; ++set_up) {
        int const tag = set_up * 16 + thread, to = (rank + 1) % size, from = (rank + size - 1) % size;
        MPI_Request requests[2];
        MPI_Precv_init(in, 1, bytes, MPI_CHAR, from, tag, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
        MPI_Psend_init(out, 1, bytes, MPI_CHAR, to, tag, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
        for (int round = 0; round < 2; ++round) {
            int const value = 1 + set_up + round;
            int wrong = 0;
            memset(out, value, bytes);
            memset(in, -1, bytes);
            MPI_Startall(2, requests);
            MPI_Pready(0, requests[1]);
            MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
            for (int i = 0; i < bytes; ++i) wrong += in[i] != value;
            if (wrong == 0) continue;
            __atomic_store_n(&broken, 1, __ATOMIC_SEQ_CST);
            printf("BUG: rank %d, thread %d, set-up %d, round %d: %d bytes wrong, the first is %d instead of %d\n",
                   rank, thread, set_up, round, wrong, in[0], value);
        }
        MPI_Request_free(&requests[0]);
        MPI_Request_free(&requests[1]);
    }
    free(out), free(in);
    return NULL;
}

int main(int argc, char** argv) {
    int const threads = argc > 1 ? atoi(argv[1]) : 8;
    int provided;
    pthread_t handles[16];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (threads < 1 || threads > 16) MPI_Abort(MPI_COMM_WORLD, 2);
    if (provided < MPI_THREAD_MULTIPLE) return puts("N/A: there is no MPI_THREAD_MULTIPLE"), MPI_Finalize(), 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (long t = 0; t < threads; ++t) pthread_create(&handles[t], NULL, exchange, (void*)t);
    for (int t = 0; t < threads; ++t) pthread_join(handles[t], NULL);
    if (!broken) puts("OK");
    MPI_Finalize();
    return broken;
}
