/* Open MPI: MPI_Parrived of a partition that several partitions of the sender make up.
 *
 * build: mpicc openmpi_parrived_early.c -o parrived_early        run: mpiexec -n 1 ./parrived_early
 * Needs MPI-4.0.
 * MPI-5.0 section 4.2.2: MPI_Parrived gives flag = true when the partition has been received; section 4.2: both sides
 *   may have different numbers of partitions, so that one of the receiver needs all of the sender that lie in it.
 * expected: the only partition of the receiver does not arrive while the last of four of the sender is not ready.
 * observed: flag = true, and the last int is not there (Open MPI 5.0.11).
 */
// run: np=1 timeout=10
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    int out[4] = {1, 2, 3, 4}, in[4] = {0, 0, 0, 0}, flag = 0;
    MPI_Request requests[2];
    MPI_Init(&argc, &argv);
    MPI_Precv_init(in, 1, 4, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_INFO_NULL, &requests[0]);
    MPI_Psend_init(out, 4, 1, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_INFO_NULL, &requests[1]);
    MPI_Startall(2, requests);
    MPI_Pready_range(0, 2, requests[1]);
    double const end = MPI_Wtime() + 0.5;
    while (!flag && MPI_Wtime() < end) MPI_Parrived(requests[0], 0, &flag);
    if (flag) printf("BUG: the partition has arrived, its last int is %d, and nobody has made it ready\n", in[3]);
    MPI_Pready(3, requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    if (!flag) puts("OK");
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    MPI_Finalize();
    return flag != 0;
}
