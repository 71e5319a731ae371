/* Intel MPI: a message on an intercommunicator never arrives when one group has made another communicator before.
 *
 * build: mpicc intel_inter_lost_message.c -o inter_lost_message        run: mpiexec -n 4 ./inter_lost_message
 * MPI-5.0 section 7.6 (intercommunicators) and 3.5: if a send and a receive match, at least one of the two completes, and
 *   here both do, as nothing else is sent or received.
 * expected: ranks 2 and 3 send to rank 1, which receives both messages.
 * observed: rank 1 waits for ever for the second one, most times. Without MPI_Comm_create it is right: the two groups then
 *   agree on a context.
 */
// run: np=4 timeout=20 runs=5
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
    int rank, last = 3, data = 0;
    MPI_Comm single, side, inter;
    MPI_Group all, one;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &last, &one);
    MPI_Comm_create(MPI_COMM_WORLD, one, &single);
    int const low = rank < 2;
    MPI_Comm_split(MPI_COMM_WORLD, low, 0, &side);
    MPI_Intercomm_create(side, 0, MPI_COMM_WORLD, low ? 2 : 0, 7, &inter);
    for (int round = 0; round < 3; ++round) {
        if (!low) MPI_Send(&data, 0, MPI_INT, 1, 5, inter);
        for (int from = 0; from < 2 && rank == 1; ++from) {
            MPI_Request request;
            int done = 0;
            MPI_Irecv(&data, 0, MPI_INT, from, 5, inter, &request);
            for (double const start = MPI_Wtime(); !done && MPI_Wtime() < start + 10;)
                MPI_Test(&request, &done, MPI_STATUS_IGNORE);
            if (!done) {
                printf("BUG: round %d: the message of rank %d of the other group has not arrived in 10 seconds\n",
                       round, from);
                fflush(stdout);
                MPI_Abort(MPI_COMM_WORLD, 1);
            }
        }
        MPI_Barrier(inter);
    }
    if (rank == 0) puts("OK");
    MPI_Finalize();
    return 0;
}
