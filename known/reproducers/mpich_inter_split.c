/* MPICH 4.0: a part of an intercommunicator that MPI_Comm_split made hangs when other colors have processes on one side only.
 *
 * build: mpicc mpich_inter_split.c -o mpich_inter_split        run: mpiexec -n 3 ./mpich_inter_split
 * MPI-5.0 section 7.4.2: the result has the processes of the same color of both sides; colors that one side only has give
 *   MPI_COMM_NULL.
 * expected: ranks 0 and 2 can use their communicator.
 * observed: MPI_Allgather on it never ends.
 */
// run: np=3 timeout=20
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static void late(int signal) {
    static char const text[] = "BUG: MPI_Allgather does not end within 10 seconds\n";
    (void)signal;
    if (write(1, text, sizeof text - 1) > 0) {}
    _exit(1);
}

int main(int argc, char** argv) {
    int rank, got = -1, wrong = 0;
    MPI_Comm side, inter, part;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank > 0, rank, &side); /* 0 and 1 2 */
    MPI_Intercomm_create(side, 0, MPI_COMM_WORLD, rank == 0, 7, &inter);
    MPI_Comm_split(inter, rank % 2, 0, &part); /* 0 and 2, 1 and nobody */
    if (part != MPI_COMM_NULL) {
        signal(SIGALRM, late);
        alarm(10);
        MPI_Allgather(&rank, 1, MPI_INT, &got, 1, MPI_INT, part);
        alarm(0);
        wrong = got != 2 - rank;
        printf("%s: rank %d got %d, expected %d\n", wrong ? "BUG" : "OK", rank, got, 2 - rank);
        fflush(stdout);
        MPI_Comm_free(&part);
    }
    MPI_Comm_free(&inter);
    MPI_Comm_free(&side);
    MPI_Finalize();
    return wrong;
}
