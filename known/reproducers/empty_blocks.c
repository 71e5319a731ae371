/* Blocks of length 0 change the bounds of a datatype.
 *
 * build: mpicc empty_blocks.c -o empty_blocks     run: mpiexec -n 1 ./empty_blocks
 * MPI-5.0 section 5.1: a block length of 0 adds no element to the type map and has no effect on bounds or extent.
 * expected: lower bound and extent of MPI_Type_contiguous(0, …), which has no elements either (0 and 0), by MPI_Type_vector
 *   and by MPI_Type_create_indexed_block.
 * observed: extent 32 of the vector, lower bound 12 of the indexed blocks.
 */
// run: np=1 timeout=10
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    MPI_Aint lb[3] = {-7, -7, -7}, extent[3] = {-7, -7, -7};
    MPI_Datatype vector, blocks, empty;
    MPI_Init(&argc, &argv);
    MPI_Type_vector(3, 0, 4, MPI_INT, &vector);
    MPI_Type_create_indexed_block(2, 0, (int[]){3, 9}, MPI_INT, &blocks);
    MPI_Type_contiguous(0, MPI_INT, &empty); // the standard has no formula for the bounds of no elements
    MPI_Type_get_extent(vector, &lb[0], &extent[0]);
    MPI_Type_get_extent(blocks, &lb[1], &extent[1]);
    MPI_Type_get_extent(empty, &lb[2], &extent[2]);
    int const right = lb[0] == lb[2] && lb[1] == lb[2] && extent[0] == extent[2] && extent[1] == extent[2];
    printf("%s: vector: lower bound %ld, extent %ld; indexed blocks: %ld, %ld; expected %ld, %ld\n",
           right ? "OK" : "BUG", (long)lb[0], (long)extent[0], (long)lb[1], (long)extent[1], (long)lb[2],
           (long)extent[2]);
    MPI_Type_free(&empty);
    MPI_Type_free(&vector);
    MPI_Type_free(&blocks);
    MPI_Finalize();
    return !right;
}
