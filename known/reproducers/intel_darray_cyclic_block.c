/* Intel MPI: a distributed array mistakes where the elements of a block of cyclic(2) lie, if the dimension before it is
 * distributed in blocks.
 *
 * build: mpicc intel_darray_cyclic_block.c -o darray_cyclic_block           run: mpiexec -n 1 ./darray_cyclic_block
 * MPI-5.0 section 5.1.4: in MPI_ORDER_FORTRAN the first dimension is contiguous; a piece of it has the extent of the whole
 * dimension, and cyclic(2) takes two of them at a time.
 * expected: of the array 0 1 / 2 3 / 4 5 / 6 7 process 0 of a grid of 2 by 1 gets 0 2 4 6.
 * observed: 0 1 4 5.
 */
// run: np=1 timeout=10
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    int sizes[2] = {2, 4}, grid[2] = {2, 1}, wrong = 0;
    int how[2] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC}, arguments[2] = {MPI_DISTRIBUTE_DFLT_DARG, 2};
    int array[8] = {0, 1, 2, 3, 4, 5, 6, 7}, got[4] = {-1, -1, -1, -1};
    MPI_Datatype type;
    MPI_Init(&argc, &argv);
    MPI_Type_create_darray(2, 0, 2, sizes, how, arguments, grid, MPI_ORDER_FORTRAN, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Sendrecv(array, 1, type, 0, 0, got, 4, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    for (int i = 0; i < 4; ++i) wrong += got[i] != 2 * i;
    printf("%s: %d %d %d %d, expected 0 2 4 6\n", wrong ? "BUG" : "OK", got[0], got[1], got[2], got[3]);
    MPI_Type_free(&type);
    MPI_Finalize();
    return wrong != 0;
}
