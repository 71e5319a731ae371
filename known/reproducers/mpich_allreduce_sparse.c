/* MPICH 4.0: MPI_Allreduce of elements that are larger than its shared memory mixes up their data.
 *
 * build: mpicc mpich_allreduce_sparse.c -o mpich_allreduce_sparse        run: mpiexec -n 2 ./mpich_allreduce_sparse
 * MPI-5.0 section 6.9.5: general datatypes may be passed to the user function, which finds the elements of both vectors
 *   where the datatype says.
 * expected: the sums of elements of two integers that lie 64 KiB apart.
 * observed: some of them are wrong.
 */
// run: np=2 timeout=20
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { n = 128, apart = 16384, extent = apart + 1 }; // elements; in integers

static void add(void* in, void* inout, int* length, MPI_Datatype* type) {
    (void)type;
    for (int i = 0; i < *length; ++i)
        for (int k = 0; k <= apart; k += apart) ((int*)inout)[i * extent + k] += ((int*)in)[i * extent + k];
}

int main(int argc, char** argv) {
    int rank, size, wrong = 0;
    int const ones[] = {1, 1};
    MPI_Aint const places[] = {0, apart * sizeof(int)};
    MPI_Datatype sparse;
    MPI_Op op;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Type_create_hindexed(2, ones, places, MPI_INT, &sparse);
    MPI_Type_commit(&sparse);
    MPI_Op_create(add, 1, &op);
    int* out = calloc((size_t)n * extent, sizeof(int));
    int* in = calloc((size_t)n * extent, sizeof(int));
    for (int round = 0; round < 20; ++round) { // the first calls take another way
        for (int i = 0; i < n; ++i) out[i * extent] = i + rank + round, out[i * extent + apart] = -i - rank - round;
        MPI_Allreduce(out, in, n, sparse, op, MPI_COMM_WORLD);
        for (int i = 0; i < n; ++i) {
            int const sum = size * (i + round) + size * (size - 1) / 2;
            wrong += in[i * extent] != sum || in[i * extent + apart] != -sum;
        }
    }
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) printf("%s: %d elements are wrong\n", wrong ? "BUG" : "OK", wrong);
    free(out), free(in);
    MPI_Op_free(&op);
    MPI_Type_free(&sparse);
    MPI_Finalize();
    return wrong != 0;
}
