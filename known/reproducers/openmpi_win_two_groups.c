/* Open MPI: windows that two groups of processes make at the same time get into each other's way.
 *
 * build: mpicc openmpi_win_two_groups.c -o win_two_groups        run: mpiexec -n 4 ./win_two_groups
 * MPI-5.0 sections 12.2.1 and 12.2.2: MPI_Win_create and MPI_Win_allocate are collective over their communicator; nothing is
 *   said of others.
 * expected: each of two communicators of two processes makes 60 windows and locks them.
 * observed: MPI_ERR_WIN, wrong data or a lock that is never granted (Open MPI 4.1): the memory that a group shares is named after
 *   the number of its communicator, which two groups may have in common.
 */
// run: np=4 timeout=60 runs=3
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void bug(int number) {
    printf("BUG: %s\n", number == SIGALRM ? "a call does not return" : number ? "a signal" : "an error or wrong data");
    fflush(stdout);
    _Exit(1);
}

int main(int argc, char** argv) {
    int world, rank;
    long* memory;
    MPI_Comm half;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &world);
    MPI_Comm_split(MPI_COMM_WORLD, world % 2, 0, &half);
    MPI_Comm_set_errhandler(half, MPI_ERRORS_RETURN);
    MPI_Comm_rank(half, &rank);
    signal(SIGALRM, bug);
    signal(SIGSEGV, bug);
    signal(SIGBUS, bug);
    for (int round = 0; round < 60; ++round) {
        alarm(30); // for each round
        long const mine = 10 * round + world;
        if (MPI_Win_allocate(64, 1, MPI_INFO_NULL, half, &memory, &win) != MPI_SUCCESS) bug(0);
        MPI_Win_lock(MPI_LOCK_SHARED, 1 - rank, 0, win);
        MPI_Put(&mine, 1, MPI_LONG, 1 - rank, 0, 1, MPI_LONG, win);
        MPI_Win_unlock(1 - rank, win);
        MPI_Barrier(half);
        MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
        if (*memory != 10 * round + (world + 2) % 4) bug(0);
        MPI_Win_unlock(rank, win);
        MPI_Win_free(&win);
    }
    alarm(0);
    MPI_Barrier(MPI_COMM_WORLD);
    if (world == 0) puts("OK");
    MPI_Finalize();
    return 0;
}
