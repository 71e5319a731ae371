/* Intel MPI: MPI_Reduce_scatter with MPI_IN_PLACE fails when a block of a derived datatype is larger than those before it.
 *
 * build: mpicc intel_reduce_scatter_in_place.c -o intel_reduce_scatter_in_place
 * run: mpiexec -n 4 ./intel_reduce_scatter_in_place
 * MPI-5.0 section 6.10.2: with MPI_IN_PLACE the input is taken from the receive buffer and replaced by the output;
 *   recvcounts may differ.
 * expected: each process gets its block of the sums at the beginning of its buffer.
 * observed: on rank 1 an error of class MPI_ERR_TYPE: the library copies the block over itself.
 */
// run: np=4 timeout=30 by=processor
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { ints = 8 }; // in an element

static void add(void* in, void* inout, int* length, MPI_Datatype* type) {
    (void)type;
    for (int i = 0; i < ints * *length; ++i) ((int*)inout)[i] += ((int*)in)[i];
}

int main(int argc, char** argv) {
    int rank, size, counts[64], total = 0, before = 0, wrong = 0, all = 0;
    MPI_Datatype element;
    MPI_Op op;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Type_vector(4, 2, 2, MPI_INT, &element);
    MPI_Type_commit(&element);
    MPI_Op_create(add, 1, &op);
    for (int i = 0; i < size; ++i) {
        counts[i] = i % 2 ? 3072 : 1024;
        if (i < rank) before += ints * counts[i];
        total += ints * counts[i];
    }
    int* data = malloc(sizeof(int) * (size_t)total);
    for (int i = 0; i < total; ++i) data[i] = i + rank;
    wrong += MPI_Reduce_scatter(MPI_IN_PLACE, data, counts, element, op, MPI_COMM_WORLD) != MPI_SUCCESS;
    for (int i = 0; i < ints * counts[rank]; ++i) wrong += data[i] != size * (before + i) + size * (size - 1) / 2;
    MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("%s: %d errors\n", all ? "BUG" : "OK", all);
    free(data);
    MPI_Op_free(&op);
    MPI_Type_free(&element);
    MPI_Finalize();
    return all != 0;
}
