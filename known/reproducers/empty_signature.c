/* MPICH, Intel MPI, Open MPI: a collective operation of no data never ends when the processes describe "no data" differently.
 *
 * build: mpicc empty_signature.c -o empty_signature        run: mpiexec -n 2 ./empty_signature
 * MPI-5.0 section 6.4: the type signature of count and datatype must be equal on all processes, distinct type maps are
 *   allowed; so for MPI_Allgather (6.7). No MPI_INT at all and one element of an empty datatype have the same, empty
 *   signature.
 * expected: MPI_Allgather, and MPI_Bcast on an intercommunicator, return everywhere.
 * observed: processes with count 0 return at once, the others wait for messages of zero bytes.
 */
// run: np=2 timeout=20
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static char const* volatile step = "";

static void too_late(int signal) {
    (void)signal;
    char text[100];
    int const n = snprintf(text, sizeof text, "BUG: %s of no data did not return within 5 seconds\n", step);
    (void)!write(1, text, n);
    _exit(1);
}

int main(int argc, char** argv) {
    int rank, data = 0, all = 0;
    MPI_Datatype empty;
    MPI_Comm local, both;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank == 0, rank, &local);
    MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, rank == 0 ? 1 : 0, 0, &both);
    MPI_Type_contiguous(0, MPI_INT, &empty);
    MPI_Type_commit(&empty);
    signal(SIGALRM, too_late);
    alarm(5);
    step = "MPI_Allgather";
    if (rank == 0) MPI_Allgather(&data, 0, MPI_INT, &all, 0, MPI_INT, MPI_COMM_WORLD);
    else MPI_Allgather(&data, 1, empty, &all, 1, empty, MPI_COMM_WORLD);
    step = "MPI_Bcast";
    if (rank == 0) MPI_Bcast(&data, 0, MPI_INT, MPI_ROOT, both);
    else MPI_Bcast(&data, 1, empty, 0, both);
    MPI_Barrier(MPI_COMM_WORLD);
    alarm(0);
    if (rank == 0) printf("OK: all processes returned\n");
    MPI_Type_free(&empty);
    MPI_Comm_free(&both);
    MPI_Comm_free(&local);
    MPI_Finalize();
    return 0;
}
