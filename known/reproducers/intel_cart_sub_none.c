/* Intel MPI: MPI_Cart_sub that keeps no dimension gives MPI_COMM_NULL to all but one process.
 *
 * build: mpicc intel_cart_sub_none.c -o cart_sub_none           run: mpiexec -n 2 ./cart_sub_none
 * MPI-5.0 section 8.5.7: if all entries in remain_dims are false, newcomm is associated with a zero-dimensional Cartesian
 * topology; every process is in one of the subgrids.
 * expected: every process gets a communicator of one process, of which MPI_Cartdim_get says 0.
 * observed: MPI_COMM_NULL on rank 1.
 */
// run: np=2 timeout=10
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    int n, dims = 2, zero = 0, wrong;
    MPI_Comm grid, point;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    dims = n;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &dims, &zero, 0, &grid);
    MPI_Cart_sub(grid, &zero, &point);
    wrong = point == MPI_COMM_NULL;
    if (!wrong) {
        int left = -7;
        MPI_Cartdim_get(point, &left);
        wrong = left != 0;
    }
    printf("%s: %s\n", wrong ? "BUG" : "OK", point == MPI_COMM_NULL ? "MPI_COMM_NULL" : "a communicator");
    MPI_Finalize();
    return wrong;
}
