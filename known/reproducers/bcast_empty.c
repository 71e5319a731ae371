/* MPICH, Intel MPI, Open MPI: a broadcast of no data never ends when the processes describe "no data" differently.
 *
 * build: mpicc bcast_empty.c -o bcast_empty        run: mpiexec -n 2 ./bcast_empty
 * MPI-5.0 section 6.4: the type signature of count and datatype must be equal on all processes; general, derived datatypes
 *   are allowed and distinct type maps between sender and receiver, too. No MPI_INT at all and one element of an empty
 *   datatype have the same, empty type signature.
 * expected: MPI_Bcast returns everywhere.
 * observed: on an intercommunicator a root with count 0 returns at once; the other group waits for a message of zero bytes.
 */
// run: np=2 timeout=20
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static void too_late(int signal) {
    (void)signal;
    static char const text[] = "BUG: MPI_Bcast of an empty datatype did not return within 5 seconds\n";
    (void)!write(1, text, sizeof text - 1);
    _exit(1);
}

int main(int argc, char** argv) {
    int rank, size, data = 0;
    MPI_Datatype empty;
    MPI_Comm local, both;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_split(MPI_COMM_WORLD, rank == 0, rank, &local);
    MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, rank == 0 ? 1 : 0, 0, &both);
    MPI_Type_contiguous(0, MPI_INT, &empty);
    MPI_Type_commit(&empty);
    signal(SIGALRM, too_late);
    alarm(5);
    if (rank == 0) MPI_Bcast(&data, 0, MPI_INT, MPI_ROOT, both);
    else MPI_Bcast(&data, 1, empty, 0, both);
    MPI_Barrier(MPI_COMM_WORLD);
    alarm(0);
    if (rank == 0) printf("OK: MPI_Bcast of no data returned on all processes\n");
    MPI_Type_free(&empty);
    MPI_Comm_free(&both);
    MPI_Comm_free(&local);
    MPI_Finalize();
    return 0;
}
