/* Open MPI: MPI_Ineighbor_alltoall on a grid whose two neighbors in one dimension are the same process.
 *
 * build: mpicc openmpi_neighbor_order.c -o neighbor_order        run: mpiexec -n 1 ./neighbor_order
 * MPI-5.0 section 8.6.2: what is sent to the neighbor at displacement +1 arrives there as from displacement -1, also where
 *   the dimension is periodic and has 1 or 2 processes (an erratum of MPI-3.1, section B.3.1).
 * expected: MPI_Ineighbor_alltoall gives the process its own blocks in the opposite order, as MPI_Neighbor_alltoall does.
 * observed: in the same order (Open MPI 4.1.4 to 5.0.11).
 */
// run: np=1 timeout=20
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    int one = 1, out[2] = {10, 20}, in[2] = {-7, -7}, wrong;
    MPI_Comm grid;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Cart_create(MPI_COMM_SELF, 1, &one, &one, 0, &grid);
    MPI_Ineighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, grid, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    wrong = in[0] != 20 || in[1] != 10;
    if (wrong) printf("BUG: (10 20) arrives as (%d %d), expected (20 10)\n", in[0], in[1]);
    else puts("OK");
    MPI_Comm_free(&grid);
    MPI_Finalize();
    return wrong;
}
