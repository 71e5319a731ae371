/* MPI_Comm_split_type of an intercommunicator crashes or hangs when one process of a group gives MPI_UNDEFINED.
 *
 * build: mpicc split_type_inter.c -o split_type_inter     run: mpiexec -n 4 ./split_type_inter
 * MPI-5.0 section 7.4.2: MPI_Comm_split_type can be used to create intercommunicators; a process that gives MPI_UNDEFINED gets
 *   MPI_COMM_NULL.
 * expected: rank 0 gets MPI_COMM_NULL, rank 1 a communicator with 1 local and 2 remote processes.
 * observed: SIGSEGV in MPI_Comm_split_type (Open MPI 5.0.11); it never ends (Intel MPI 2021.19.0, MPICH 4.0.3).
 */
// run: np=4 timeout=20
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    int rank, local = 0, remote = 0, wrong;
    MPI_Comm side, inter, part;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &side);
    MPI_Intercomm_create(side, 0, MPI_COMM_WORLD, rank < 2 ? 2 : 0, 7, &inter);
    MPI_Comm_split_type(inter, rank == 0 ? MPI_UNDEFINED : MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &part);
    if (part != MPI_COMM_NULL) {
        MPI_Comm_size(part, &local);
        MPI_Comm_remote_size(part, &remote);
        MPI_Comm_free(&part);
    }
    wrong = local != (rank == 0 ? 0 : rank == 1 ? 1 : 2) || remote != (rank == 0 ? 0 : rank == 1 ? 2 : 1);
    printf("%s: rank %d is in a group of %d with %d remote processes\n", wrong ? "BUG" : "OK", rank, local, remote);
    fflush(stdout);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&side);
    MPI_Finalize();
    return wrong;
}
