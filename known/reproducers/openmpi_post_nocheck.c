/* Open MPI: the second exposure epoch that is posted with MPI_MODE_NOCHECK never ends.
 *
 * build: mpicc openmpi_post_nocheck.c -o post_nocheck     run: mpiexec -n 1 ./post_nocheck  (or more ranks)
 * MPI-5.0 section 12.5.5: MPI_MODE_NOCHECK may be given to MPI_Win_start when all matching calls to MPI_Win_post have
 *   completed, and to MPI_Win_post when no matching start has been called; both hold here by the barrier. Section 12.5.2:
 *   MPI_Win_wait returns when all matching calls to MPI_Win_complete have occurred.
 * expected: two epochs, one after the other.
 * observed: MPI_Win_wait of the second one does not return: Open MPI 5.0.11, windows in shared memory; 4.1, one process.
 */
// run: np=1 timeout=30
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static void too_late(int signal) {
    (void)signal;
    static char const text[] = "BUG: MPI_Win_wait of the second epoch does not return within 20 seconds\n";
    (void)!write(1, text, sizeof text - 1);
    _exit(1);
}

int main(int argc, char** argv) {
    int *memory, rank;
    MPI_Win win;
    MPI_Group group;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_allocate(sizeof(int), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    MPI_Win_get_group(win, &group);
    signal(SIGALRM, too_late);
    alarm(20);
    for (int i = 0; i < 2; ++i) {
        MPI_Win_post(group, MPI_MODE_NOCHECK, win);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Win_start(group, MPI_MODE_NOCHECK, win);
        MPI_Win_complete(win);
        MPI_Win_wait(win);
    }
    alarm(0);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) puts("OK");
    MPI_Group_free(&group);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
