/* MPICH 4.0: MPI_Reduce with MPI_IN_PLACE and a user-defined operation crashes at a root that is not rank 0.
 *
 * build: mpicc mpich_reduce_in_place.c -o mpich_reduce_in_place        run: mpiexec -n 2 ./mpich_reduce_in_place
 * MPI-5.0 section 6.9.1: MPI_IN_PLACE as sendbuf at the root: its input is taken from the receive buffer.
 * expected: the sum of 16384 integers at the root, rank 1.
 * observed: SIGSEGV at the root for 8 KiB and more.
 */
// run: np=2 timeout=20
#include <mpi.h>
#include <stdio.h>

enum { n = 16384 };
static int data[n];

static void add(void* in, void* inout, int* length, MPI_Datatype* type) {
    (void)type;
    for (int i = 0; i < *length; ++i) ((int*)inout)[i] += ((int*)in)[i];
}

int main(int argc, char** argv) {
    int rank, size, wrong = 0;
    MPI_Op op;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int const root = size - 1;
    MPI_Op_create(add, 1, &op);
    for (int i = 0; i < n; ++i) data[i] = i + rank;
    MPI_Reduce(rank == root ? MPI_IN_PLACE : data, data, n, MPI_INT, op, root, MPI_COMM_WORLD);
    for (int i = 0; rank == root && i < n; ++i) wrong += data[i] != size * i + size * (size - 1) / 2;
    if (rank == root) printf("%s: %d of %d sums are wrong\n", wrong ? "BUG" : "OK", wrong, n);
    MPI_Op_free(&op);
    MPI_Finalize();
    return wrong != 0;
}
