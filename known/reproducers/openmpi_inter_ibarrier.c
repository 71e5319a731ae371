/* Open MPI: MPI_Ibarrier on an intercommunicator ends before all processes of the other group have entered it.
 *
 * build: mpicc openmpi_inter_ibarrier.c -o inter_ibarrier        run: mpiexec -n 4 ./inter_ibarrier
 * MPI-5.0 sections 6.3 (no process leaves before all of the other group have entered) and 6.12.1.
 * expected: with groups of two processes nobody of the first one leaves while the last of the other one has not entered.
 * observed: one does (Open MPI 4.1.4 to 5.0.11).
 */
// run: np=4 timeout=20
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    int rank, early = 0, said, any = 0;
    MPI_Comm side, inter;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank < 2, 0, &side);
    MPI_Intercomm_create(side, 0, MPI_COMM_WORLD, rank < 2 ? 2 : 0, 0, &inter);
    MPI_Barrier(MPI_COMM_WORLD);
    // The last of the second group enters only when both of the first one have said whether they could leave.
    for (int source = 0; rank == 3 && source < 2; ++source)
        MPI_Recv(&said, 1, MPI_INT, source, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Ibarrier(inter, &request);
    double const end = MPI_Wtime() + 1;
    while (rank < 2 && !early && MPI_Wtime() < end) MPI_Test(&request, &early, MPI_STATUS_IGNORE);
    early = early != 0;
    if (rank < 2) MPI_Send(&early, 1, MPI_INT, 3, 0, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Allreduce(&early, &any, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0 && any) printf("BUG: %d processes left before all of the other group entered\n", any);
    else if (rank == 0) puts("OK");
    MPI_Finalize();
    return any != 0;
}
