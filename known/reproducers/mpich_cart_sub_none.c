/* MPICH before 5: MPI_Cart_sub that keeps no dimension gives MPI_COMM_NULL to all processes but one.
 *
 * build: mpicc mpich_cart_sub_none.c -o mpich_cart_sub_none        run: mpiexec -n 2 ./mpich_cart_sub_none
 * MPI-5.0 section 8.5.7: the grid is divided into one subgroup for each position in the dimensions that are dropped; if all
 *   entries of remain_dims are false, the new communicator has a zero-dimensional topology.
 * expected: a communicator of one process on each process.
 * observed: MPI_COMM_NULL on rank 1.
 */
// run: np=2 timeout=20
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    int rank, size, bug = 0, any = 0;
    int const periodic = 0, remain = 0;
    MPI_Comm line, part;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &line);
    MPI_Cart_sub(line, &remain, &part);
    bug = part == MPI_COMM_NULL;
    MPI_Allreduce(&bug, &any, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) printf("%s: %d of %d processes got MPI_COMM_NULL\n", any ? "BUG" : "OK", any, size);
    if (part != MPI_COMM_NULL) MPI_Comm_free(&part);
    MPI_Comm_free(&line);
    MPI_Finalize();
    return any != 0;
}
