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
#include <unistd.h>

int main(int argc, char** argv) {
    int rank, early = 0, any = 0;
    MPI_Comm side, inter;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank < 2, 0, &side);
    MPI_Intercomm_create(side, 0, MPI_COMM_WORLD, rank < 2 ? 2 : 0, 0, &inter);
    MPI_Barrier(MPI_COMM_WORLD);
    double const start = MPI_Wtime();
    if (rank == 3) usleep(1000000); // the last of the second group comes a second late
    MPI_Ibarrier(inter, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    early = rank < 2 && MPI_Wtime() - start < 0.5;
    MPI_Allreduce(&early, &any, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0 && any) printf("BUG: %d processes left half a second before all of the other group entered\n", any);
    else if (rank == 0) puts("OK");
    MPI_Finalize();
    return any != 0;
}
