/* Blocks of length 0 change the bounds of a datatype.
 *
 * build: mpicc empty_blocks.c -o empty_blocks     run: mpiexec -n 1 ./empty_blocks
 * MPI-5.0 section 5.1: a block length of 0 adds no element to the type map and has no effect on bounds or extent.
 * expected: lower bound 0 and extent 0, by MPI_Type_vector and by MPI_Type_create_indexed_block.
 * observed: extent 32 of the vector, lower bound 12 of the indexed blocks.
 */
// run: np=1 timeout=10
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    MPI_Aint lb[2] = {-7, -7}, extent[2] = {-7, -7};
    MPI_Datatype vector, blocks;
    MPI_Init(&argc, &argv);
    MPI_Type_vector(3, 0, 4, MPI_INT, &vector);
    MPI_Type_create_indexed_block(2, 0, (int[]){3, 9}, MPI_INT, &blocks);
    MPI_Type_get_extent(vector, &lb[0], &extent[0]);
    MPI_Type_get_extent(blocks, &lb[1], &extent[1]);
    int const right = lb[0] == 0 && lb[1] == 0 && extent[0] == 0 && extent[1] == 0;
    printf("%s: vector: lower bound %ld, extent %ld; indexed blocks: %ld, %ld; expected 0, 0\n", right ? "OK" : "BUG",
           (long)lb[0], (long)extent[0], (long)lb[1], (long)extent[1]);
    MPI_Type_free(&vector);
    MPI_Type_free(&blocks);
    MPI_Finalize();
    return !right;
}
