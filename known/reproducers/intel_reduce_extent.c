/* Intel MPI: MPI_Reduce loses elements that have space behind their data.
 *
 * build: mpicc intel_reduce_extent.c -o intel_reduce_extent        run: mpiexec -n 2 ./intel_reduce_extent
 * MPI-5.0 section 6.9.5: general datatypes may be passed to the user function, which finds the elements of both vectors
 *   where the datatype says, that is an extent apart (5.1).
 * expected: the sum of 2000 integers that lie 16 bytes apart.
 * observed: a part of them is wrong: a vector that is reduced in pieces is cut as if its elements had no space between.
 */
// run: np=2 timeout=20
#include <mpi.h>
#include <stdio.h>

enum { stride = 4, n = 2000 };
static int out[n * stride], in[n * stride];

static void add(void* in, void* inout, int* length, MPI_Datatype* type) {
    (void)type;
    for (int i = 0; i < *length; ++i) ((int*)inout)[i * stride] += ((int*)in)[i * stride];
}

int main(int argc, char** argv) {
    int rank, size, wrong = 0;
    MPI_Datatype spaced;
    MPI_Op op;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Type_create_resized(MPI_INT, 0, stride * sizeof(int), &spaced);
    MPI_Type_commit(&spaced);
    MPI_Op_create(add, 1, &op);
    for (int i = 0; i < n; ++i) out[i * stride] = i + rank;
    MPI_Reduce(out, in, n, spaced, op, 0, MPI_COMM_WORLD);
    for (int i = 0; rank == 0 && i < n; ++i) wrong += in[i * stride] != size * i + size * (size - 1) / 2;
    if (rank == 0) printf("%s: %d of %d elements are wrong\n", wrong ? "BUG" : "OK", wrong, n);
    MPI_Op_free(&op);
    MPI_Type_free(&spaced);
    MPI_Finalize();
    return wrong != 0;
}
