/* MPICH, Intel MPI: reduce-scatter by an operation that does not commute writes beyond its temporary buffers.
 *
 * build: mpicc reduce_scatter_extent.c -o reduce_scatter_extent        run: mpiexec -n 2 ./reduce_scatter_extent
 * MPI-5.0 section 6.9.5: general datatypes may be passed to the user function; section 6.10: block i of the result is
 *   received by process i.
 * expected: each process receives its block of the sum, and the heap is left alone.
 * observed: temporary buffers have room for the true extent of each element and not for its extent: elements with space
 *   after their data (here 4 of 64 bytes are data) are written beyond the end. Wrong results or a damaged heap.
 */
// run: np=2 timeout=30
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { stride = 16, n = 1000 }; // integers from one element to the next; elements of a block

static void add(void* in, void* inout, int* length, MPI_Datatype* type) {
    (void)type;
    for (int i = 0; i < *length; ++i) ((int*)inout)[i * stride] += ((int*)in)[i * stride];
}

static void damaged(int signal) {
    (void)signal;
    static char const text[] = "BUG: the heap is damaged, or memory beyond it was touched\n";
    (void)!write(1, text, sizeof text - 1);
    _exit(1);
}

int main(int argc, char** argv) {
    int rank, size, wrong = 0, all = 0;
    MPI_Datatype spaced;
    MPI_Op op;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Type_create_resized(MPI_INT, 0, stride * sizeof(int), &spaced);
    MPI_Type_commit(&spaced);
    MPI_Op_create(add, 0, &op);
    signal(SIGABRT, damaged);
    signal(SIGSEGV, damaged);
    int* out = calloc((size_t)n * size * stride, sizeof(int));
    int* in = calloc((size_t)n * stride, sizeof(int));
    for (int round = 0; round < 20; ++round) {
        for (int i = 0; i < n * size; ++i) out[i * stride] = i + rank + round;
        MPI_Reduce_scatter_block(out, in, n, spaced, op, MPI_COMM_WORLD);
        for (int i = 0; i < n; ++i) wrong += in[i * stride] != size * (i + rank * n + round) + size * (size - 1) / 2;
    }
    MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("%s: %d elements are wrong\n", all ? "BUG" : "OK", all);
    free(out), free(in);
    MPI_Op_free(&op);
    MPI_Type_free(&spaced);
    MPI_Finalize();
    return all != 0;
}
