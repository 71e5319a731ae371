/* Open MPI: MPI_Comm_free while a nonblocking collective operation is pending.
 *
 * build: mpicc openmpi_comm_free_pending.c -o comm_free_pending        run: mpiexec -n 2 ./comm_free_pending
 * MPI-5.0 section 7.4.3: operations pending on the communicator complete normally.
 * expected: MPI_Wait completes MPI_Iallreduce.
 * observed: a segmentation fault in the progress of the operation (Open MPI 4.1.4 to 5.0.11).
 */
// run: np=2 timeout=20 runs=5
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    int rank, out, in, i, wrong = 0;
    MPI_Comm copy, next;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    out = 300 + rank;
    for (i = 0; i < 20; ++i) {
        in = -7;
        MPI_Comm_dup(MPI_COMM_WORLD, &copy);
        MPI_Iallreduce(&out, &in, 1, MPI_INT, MPI_SUM, copy, &request);
        MPI_Comm_free(&copy);
        MPI_Comm_dup(MPI_COMM_WORLD, &next);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        if (in != 601) wrong = 1;
        MPI_Comm_free(&next);
    }
    if (wrong) puts("BUG: a sum is not 601");
    else if (rank == 0) puts("OK");
    MPI_Finalize();
    return wrong;
}
