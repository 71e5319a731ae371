// Threads that make partitions of one message ready and ask for partitions of another at the same time: it does not complete.
// build: mpicc -pthread openmpi_pready_threads.c -o pready_threads
// run: np=2 timeout=40 runs=3 flags=-pthread
// clause: MPI-5.0 section 11.6.1: concurrent calls have the outcome of some order of them; chapter 4, whose examples call
//         MPI_Pready and MPI_Parrived from several threads.
// expected: every round completes with the bytes that were sent.
// observed: Open MPI 5.0.11: after some rounds MPI_Parrived stays false, or MPI_Waitall does not return.
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

enum { threads = 2, bytes = 224, set_ups = 100 };
static MPI_Request requests[2];

static void* ready(void* partition) {
    int arrived = 0;
    MPI_Pready((int)(long)partition, requests[1]);
    while (!arrived) {
        MPI_Parrived(requests[0], threads - 1 - (int)(long)partition, &arrived);
        if (!arrived) sched_yield();
    }
    return NULL;
}

int main(int argc, char** argv) {
    static unsigned char out[threads * bytes], in[threads * bytes];
    int provided, rank, size, wrong = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (provided < MPI_THREAD_MULTIPLE) return puts("N/A: there is no MPI_THREAD_MULTIPLE"), MPI_Finalize(), 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int const to = (rank + 1) % size, from = (rank + size - 1) % size;
    for (int round = 0; round < 2 * set_ups; ++round) { // two rounds with the same requests
        if (round % 2 == 0) {
            MPI_Precv_init(in, threads, bytes, MPI_BYTE, from, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
            MPI_Psend_init(out, threads, bytes, MPI_BYTE, to, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
        }
        memset(out, round & 0xff, sizeof out);
        memset(in, ~round & 0xff, sizeof in);
        MPI_Startall(2, requests);
        pthread_t others[threads];
        for (long t = 1; t < threads; ++t) pthread_create(&others[t], NULL, ready, (void*)t);
        ready(NULL);
        for (int t = 1; t < threads; ++t) pthread_join(others[t], NULL);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        wrong += memcmp(in, out, sizeof in) != 0;
        if (round % 2 == 1) {
            MPI_Request_free(&requests[0]);
            MPI_Request_free(&requests[1]);
        }
    }
    printf("%s: %d of %d rounds wrong\n", wrong ? "BUG" : "OK", wrong, 2 * set_ups);
    MPI_Finalize();
    return wrong != 0;
}
