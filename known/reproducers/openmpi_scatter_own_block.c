/* Open MPI: collective operations lose the end of a process's own block when both sides describe it in different ways.
 *
 * build: mpicc openmpi_scatter_own_block.c -o own_block     run: mpiexec -n 1 ./own_block
 * MPI-5.0 section 6.6: the type signature of sendcount, sendtype at the root must equal that of recvcount, recvtype at each
 *   process; distinct type maps between sender and receiver are allowed. Each process, the root too, receives its block.
 * expected: 5462 pairs arrive in one element of a datatype of 5462 pairs.
 * observed: the last pair is not whole: 65544 bytes are copied in pieces of 64 KiB, and what remains when a piece ends within a
 *   basic element is lost. The same in MPI_Scatterv, MPI_Gather and their nonblocking variants.
 */
// run: np=1 timeout=20
#include <mpi.h>
#include <stdio.h>

typedef struct {
    double value;
    int index;
} pair;
enum { n = 5462 };
static pair out[n], in[n];

int main(int argc, char** argv) {
    int wrong = 0;
    MPI_Datatype block;
    MPI_Init(&argc, &argv);
    MPI_Type_contiguous(n, MPI_DOUBLE_INT, &block);
    MPI_Type_commit(&block);
    for (int i = 0; i < n; ++i) out[i].value = i + 0.7, out[i].index = i + 1;
    MPI_Scatter(out, n, MPI_DOUBLE_INT, in, 1, block, 0, MPI_COMM_SELF);
    for (int i = 0; i < n; ++i) wrong += in[i].value != out[i].value || in[i].index != out[i].index;
    printf("%s: %d of %d pairs are wrong\n", wrong ? "BUG" : "OK", wrong, n);
    MPI_Type_free(&block);
    MPI_Finalize();
    return wrong != 0;
}
