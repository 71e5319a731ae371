/* Intel MPI: MPI_Allgather is wrong when sender and receiver describe the same block in different ways.
 *
 * build: mpicc intel_allgather_block.c -o intel_allgather_block        run: mpiexec -n 2 ./intel_allgather_block
 * MPI-5.0 section 6.7: the type signature of sendcount, sendtype must equal that of recvcount, recvtype; distinct type maps
 *   and counts are allowed.
 * expected: blocks of 1024 bytes that are sent as 1 element of MPI_Type_contiguous(1024, MPI_BYTE) arrive.
 * observed: most bytes are wrong, as if the block had the size of sendcount elements of the receive datatype.
 */
// run: np=2 timeout=20
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { n = 1024 };
static unsigned char one[n], all[64 * n];

int main(int argc, char** argv) {
    int rank, size, wrong = 0;
    MPI_Datatype block;
    setenv("I_MPI_ADJUST_ALLGATHER", "5", 1); /* Intel MPI chooses by the processor */
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Type_contiguous(n, MPI_BYTE, &block);
    MPI_Type_commit(&block);
    memset(one, rank + 1, n);
    MPI_Allgather(one, 1, block, all, n, MPI_BYTE, MPI_COMM_WORLD);
    for (int i = 0; i < n * size; ++i) wrong += all[i] != i / n + 1;
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) printf("%s: %d bytes are wrong\n", wrong ? "BUG" : "OK", wrong);
    MPI_Type_free(&block);
    MPI_Finalize();
    return wrong != 0;
}
