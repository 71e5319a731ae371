/* Open MPI: MPI_Parrived where the receiver has more partitions than the sender.
 *
 * build: mpicc openmpi_parrived_pieces.c -o parrived_pieces        run: mpiexec -n 2 ./parrived_pieces
 * MPI-5.0 section 4.2: both sides may have different numbers of partitions; section 4.2.2: MPI_Parrived, called again and
 *   again, gives flag = true in the end once all partitions of the sender are ready.
 * expected: all four partitions of the receiver arrive after the only one of the sender.
 * observed: some never do (Open MPI 5.0.11).
 */
// run: np=2 timeout=30
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    int rank, partition, flag, missing = 0, data[4] = {1, 2, 3, 4};
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        MPI_Psend_init(data, 1, 4, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
        MPI_Start(&request);
        MPI_Pready(0, request);
    } else {
        MPI_Precv_init(data, 4, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
        MPI_Start(&request);
        double const end = MPI_Wtime() + 10; // of all partitions
        for (partition = 0; partition < 4; ++partition) {
            do MPI_Parrived(request, partition, &flag);
            while (!flag && MPI_Wtime() < end);
            missing += !flag;
        }
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (missing) printf("BUG: %d of 4 partitions have not arrived\n", missing);
    else if (rank == 1) puts("OK");
    MPI_Request_free(&request);
    MPI_Finalize();
    return missing != 0;
}
