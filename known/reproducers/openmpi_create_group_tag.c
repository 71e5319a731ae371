/* Open MPI: MPI_Comm_create_group while a receive with the same tag is pending.
 *
 * build: mpicc openmpi_create_group_tag.c -o create_group_tag        run: mpiexec -n 2 ./create_group_tag
 * MPI-5.0 section 7.4.2: the tag argument does not conflict with tags used in point-to-point communication.
 * expected: the communicator is made, the receive gets the message that is sent after it.
 * observed: the receive takes a message of MPI_Comm_create_group, which never returns (Open MPI 4.1.4 to 5.0.11).
 */
// run: np=2 timeout=10
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    int rank, in = -7, out;
    MPI_Comm made;
    MPI_Group group;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Irecv(&in, 1, MPI_INT, 1 - rank, 5, MPI_COMM_WORLD, &request);
    MPI_Comm_group(MPI_COMM_WORLD, &group);
    MPI_Comm_create_group(MPI_COMM_WORLD, group, 5, &made);
    out = 100 + rank;
    MPI_Send(&out, 1, MPI_INT, 1 - rank, 5, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (in != 101 - rank) printf("BUG: the message is %d, expected %d\n", in, 101 - rank);
    else if (rank == 0) puts("OK");
    MPI_Group_free(&group);
    MPI_Comm_free(&made);
    MPI_Finalize();
    return in != 101 - rank;
}
