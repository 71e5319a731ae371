/* Open MPI: MPI_Comm_create of an intercommunicator with a group in another order.
 *
 * build: mpicc openmpi_comm_create_inter_order.c -o create_inter_order       run: mpiexec -n 3 ./create_inter_order
 * MPI-5.0 section 7.4.2: of an intercommunicator, too, the new groups are those that the processes give, in their order; section
 *   7.6: a message goes to the process that has the given rank in the remote group.
 * expected: process 0 sends 0 and 1 to the remote ranks 0 and 1 of the new communicator: each gets its own rank.
 * observed: the processes disagree about who is who: each gets the message for the other one (Open MPI 4.1.4 to 5.0.11).
 */
// run: np=3 timeout=10
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    int rank, here, number = -7, wrong = 0;
    int const backwards[2] = {1, 0};
    MPI_Comm half, inter, made;
    MPI_Group group, turned;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int const side = rank > 0; /* {0} and {1, 2} */
    MPI_Comm_split(MPI_COMM_WORLD, side, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, side ? 0 : 1, 1, &inter);
    MPI_Comm_group(inter, &group);
    if (side) MPI_Group_incl(group, 2, backwards, &turned);
    else MPI_Group_incl(group, 1, &backwards[1], &turned);
    MPI_Comm_create(inter, turned, &made);
    MPI_Comm_rank(made, &here);
    if (!side)
        for (int to = 0; to < 2; ++to) MPI_Send(&to, 1, MPI_INT, to, 2, made);
    else {
        MPI_Recv(&number, 1, MPI_INT, 0, 2, made, MPI_STATUS_IGNORE);
        wrong = number != here || here != 2 - rank;
        if (wrong) printf("BUG: process %d is rank %d of its group and got what was sent to %d\n", rank, here, number);
        else if (rank == 2) puts("OK");
    }
    fflush(stdout);
    MPI_Finalize();
    return wrong;
}
