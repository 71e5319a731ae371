/* Open MPI: a partition of a partitioned receive of no data never arrives where the receive has more partitions than the send.
 *
 * build: mpicc openmpi_parrived_empty.c -o parrived_empty        run: mpiexec -n 2 ./parrived_empty
 * MPI-5.0 section 4.2.2: "Repeated calls to MPI_PARRIVED with the same request and partition arguments will eventually return
 *   flag = true if the corresponding partitioned send operation has been started and all send partitions have been marked as ready."
 * expected: a send of two partitions of 0 elements to a receive of four: each arrives.
 * observed: flag stays false (Open MPI 5.0.11).
 */
// run: np=2 timeout=20
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void bug(int number) {
    (void)number;
    puts("BUG: an empty partition never arrives");
    fflush(stdout);
    _Exit(1);
}

int main(int argc, char** argv) {
    int rank, flag;
    double data = 0;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    signal(SIGALRM, bug);
    alarm(5);
    if (rank == 0) {
        MPI_Psend_init(&data, 2, 0, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
        MPI_Start(&request);
        MPI_Pready_range(0, 1, request);
    } else if (rank == 1) {
        MPI_Precv_init(&data, 4, 0, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
        MPI_Start(&request);
        for (int partition = 0; partition < 4; ++partition) do
                MPI_Parrived(request, partition, &flag);
            while (!flag);
    }
    if (rank < 2) {
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Request_free(&request);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    alarm(0);
    if (rank == 0) puts("OK");
    MPI_Finalize();
    return 0;
}
