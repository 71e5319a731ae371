/* Intel MPI: MPI_Bcast of two threads at once, each on a communicator of its own, mixes up data or never returns.
 *
 * build: mpicc -pthread intel_bcast_threads.c -o bcast_threads        run: mpiexec -n 4 ./bcast_threads
 * MPI-5.0 section 11.6.1: with MPI_THREAD_MULTIPLE several threads may call MPI at once without restriction; section 6.14 only
 *   wants that collective operations on one communicator are not called at the same time.
 * expected: each thread of each process receives what the root of its communicator sent.
 * observed: about every fifth broadcast brings other data; with 2 ints instead of 257 a thread stays in MPI_Bcast (Intel MPI
 *   2021.19.0).
 */
// run: np=4 timeout=30 runs=3 flags="-pthread" by=timing
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>

enum { threads = 2, rounds = 3, attempts = 60, count = 257 };

static int rank, size;
static MPI_Comm comms[threads];
static int wrong[threads];

static void* work(void* number) {
    int const thread = *(int*)number;
    for (int round = 0; round < rounds; ++round) {
        int const root = (thread + round) % size, expected = 1000000 * thread + round;
        int value[count], bad = 0;
        for (int k = 0; k < count; ++k) value[k] = rank == root ? expected + k : -1;
        MPI_Bcast(value, count, MPI_INT, root, comms[thread]);
        for (int k = 0; k < count; ++k) bad |= value[k] != expected + k;
        wrong[thread] += bad;
    }
    return NULL;
}

int main(int argc, char** argv) {
    int provided, numbers[threads], mine = 0, total = 0;
    pthread_t all[threads];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (provided < MPI_THREAD_MULTIPLE) {
        puts("N/A: no MPI_THREAD_MULTIPLE");
        MPI_Finalize();
        return 0;
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int attempt = 0; attempt < attempts; ++attempt) {
        for (int i = 0; i < threads; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
        for (int i = 0; i < threads; ++i) {
            numbers[i] = i;
            pthread_create(&all[i], NULL, work, &numbers[i]);
        }
        for (int i = 0; i < threads; ++i) pthread_join(all[i], NULL);
        for (int i = 0; i < threads; ++i) MPI_Comm_free(&comms[i]);
    }
    for (int i = 0; i < threads; ++i) mine += wrong[i];
    MPI_Allreduce(&mine, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) {
        if (total > 0) printf("BUG: %d of %d broadcasts bring other data\n", total, size * attempts * threads * rounds);
        else puts("OK");
    }
    MPI_Finalize();
    return total > 0;
}
