/* Intel MPI: MPI_Allgather on an intercommunicator hangs when the datatype has no size.
 *
 * build: mpicc intel_inter_allgather_empty.c -o intel_inter_allgather_empty
 * run:   mpiexec -n 2 ./intel_inter_allgather_empty
 * MPI-5.0 section 6.7: each process gets the data of the other group, which are none here; section 2.9: a collective operation
 *   that all processes have called makes progress until it is complete.
 * expected: MPI_Allgather of 17 elements of MPI_Type_contiguous(0, MPI_INT) returns.
 * observed: all processes wait in it for ever.
 */
// run: np=2 timeout=20
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static void too_late(int signal) {
    (void)signal;
    static char const text[] = "BUG: MPI_Allgather does not return\n";
    (void)!write(1, text, sizeof text - 1);
    _exit(1);
}

int main(int argc, char** argv) {
    int rank, size, in = 4711, out = 4711;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int const half = (size + 1) / 2, lower = rank < half;
    MPI_Comm local, inter;
    MPI_Datatype empty;
    MPI_Comm_split(MPI_COMM_WORLD, lower, rank, &local);
    MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, lower ? half : 0, 1, &inter);
    MPI_Type_contiguous(0, MPI_INT, &empty);
    MPI_Type_commit(&empty);
    signal(SIGALRM, too_late);
    alarm(15);
    MPI_Allgather(&out, 17, empty, &in, 17, empty, inter);
    alarm(0);
    if (rank == 0 || in != 4711) puts(in == 4711 ? "OK" : "BUG: there was nothing to receive");
    MPI_Type_free(&empty);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&local);
    MPI_Finalize();
    return in != 4711;
}
