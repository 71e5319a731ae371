/* Intel MPI: persistent collective operations that processes start in different orders mix up their data, or never complete.
 *
 * build: mpicc intel_persistent_order.c -o persistent_order           run: mpiexec -n 2 ./persistent_order
 * MPI-5.0 section 6.13: persistent collective operations may be started in any order, in a different one on each process;
 * section 7.4.4: only where mpi_assert_strict_persistent_collective_ordering is true (it is false by default) may the
 * implementation assume that all processes start persistent collective operations in the same order.
 * expected: both operations complete, with right data.
 * observed: the second sum of two is garbage.
 */
// run: np=2 timeout=10
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    int rank, sum = 0, one = 1, two[2] = {1, 1}, sums[2] = {0, 0}, wrong;
    MPI_Request requests[2];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Allreduce_init(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
    MPI_Allreduce_init(two, sums, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
    MPI_Start(&requests[rank % 2]);
    MPI_Start(&requests[1 - rank % 2]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    wrong = sum != 2 || sums[0] != 2 || sums[1] != 2;
    printf("%s: %d, %d %d; expected 2, 2 2\n", wrong ? "BUG" : "OK", sum, sums[0], sums[1]);
    for (int i = 0; i < 2; ++i) MPI_Request_free(&requests[i]);
    MPI_Finalize();
    return wrong;
}
