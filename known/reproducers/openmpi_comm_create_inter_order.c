/* Open MPI: MPI_Comm_create of an intercommunicator with a group in another order.
 *
 * build: mpicc openmpi_comm_create_inter_order.c -o create_inter_order       run: mpiexec -n 3 ./create_inter_order
 * MPI-5.0 section 7.4.2: of an intercommunicator, too, the new groups are those that the processes give, in their order.
 * expected: process 0 sends 7 to the remote rank 0 of the new communicator, which is process 2.
 * observed: the processes disagree about who is who: the message goes to process 1, process 2 waits for ever (Open MPI 4.1.4 to
 *   5.0.11).
 */
// run: np=3 timeout=10
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    int rank, here, number = 7, flag = 0;
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
    if (!side) MPI_Send(&number, 1, MPI_INT, 0, 2, made);
    else {
        double const end = MPI_Wtime() + 1;
        while (!flag && MPI_Wtime() < end) MPI_Iprobe(0, 2, made, &flag, MPI_STATUS_IGNORE);
        if (flag) MPI_Recv(&number, 1, MPI_INT, 0, 2, made, MPI_STATUS_IGNORE);
        if (flag != (rank == 2) || here != 2 - rank)
            printf("BUG: process %d is rank %d of its group and got %d messages\n", rank, here, flag), fflush(stdout);
        else if (rank == 2) puts("OK");
    }
    MPI_Finalize();
    return 0;
}
