/* Open MPI: partitioned messages in both directions at once.
 *
 * build: mpicc openmpi_partitioned_both_ways.c -o partitioned_both_ways       run: mpiexec -n 2 ./partitioned_both_ways
 * MPI-5.0 section 4.2.2: a partitioned operation completes once all partitions are ready and have been sent or received.
 * expected: all four requests of each process complete.
 * observed: they do not (Open MPI 5.0.11).
 */
// run: np=2 timeout=30
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    int rank, i, flag, done = 0, out[2][2] = {{1, 2}, {3, 4}}, in[2][2];
    MPI_Request request[4];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (i = 0; i < 2; ++i) {
        MPI_Psend_init(out[i], 2, 1, MPI_INT, 1 - rank, i, MPI_COMM_WORLD, MPI_INFO_NULL, &request[i]);
        MPI_Precv_init(in[i], 2, 1, MPI_INT, 1 - rank, i, MPI_COMM_WORLD, MPI_INFO_NULL, &request[2 + i]);
    }
    double const end = MPI_Wtime() + 15;
    MPI_Startall(4, request);
    for (i = 0; i < 2; ++i) MPI_Pready_range(0, 1, request[i]);
    while (done < 4 && MPI_Wtime() < end)
        for (i = done = 0; i < 4; ++i) {
            MPI_Test(&request[i], &flag, MPI_STATUS_IGNORE);
            done += flag;
        }
    if (done < 4) printf("BUG: rank %d: %d of 4 requests are complete\n", rank, done);
    else if (rank == 0) puts("OK");
    fflush(stdout);
    if (done < 4) MPI_Abort(MPI_COMM_WORLD, 1);
    for (i = 0; i < 4; ++i) MPI_Request_free(&request[i]);
    MPI_Finalize();
    return 0;
}
