/* Open MPI: MPI_Ireduce by a user-defined operation damages the heap when elements do not begin at their address.
 *
 * build: mpicc openmpi_ireduce_lower_bound.c -o ireduce_lower_bound        run: mpiexec -n 2 ./ireduce_lower_bound
 * MPI-5.0 section 6.9.5: general datatypes may be passed to the user function, which finds the elements of both vectors
 *   where the datatype says.
 * expected: the sum, whether the data of an element begins at or after the address of the vector.
 * observed: a damaged heap where the true lower bound is not 0, with MPI_IN_PLACE at the root, from about 64 KiB on.
 */
// run: np=2 timeout=30
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    stride = 96,
    shift = 32,
    part = 64,
    n = 260
}; // integers: from one element to the next, before its data, its data

static void add(void* in, void* inout, int* length, MPI_Datatype* type) {
    (void)type;
    for (int i = 0; i < *length; ++i)
        for (int k = shift; k < shift + part; ++k) ((int*)inout)[i * stride + k] += ((int*)in)[i * stride + k];
}

static void damaged(int signal) {
    (void)signal;
    static char const text[] = "BUG: the heap is damaged, or memory beyond it was touched\n";
    (void)!write(1, text, sizeof text - 1);
    _exit(1);
}

int main(int argc, char** argv) {
    int rank, size, wrong = 0;
    int const sizes[1] = {stride}, parts[1] = {part}, start[1] = {shift};
    MPI_Datatype shifted;
    MPI_Op op;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Type_create_subarray(1, sizes, parts, start, MPI_ORDER_C, MPI_INT, &shifted);
    MPI_Type_commit(&shifted);
    MPI_Op_create(add, 1, &op);
    signal(SIGABRT, damaged);
    signal(SIGSEGV, damaged);
    for (int round = 0; round < 20; ++round) {
        int const root = round % size, many = n + round;
        int* data = calloc((size_t)many * stride, sizeof(int));
        for (int i = 0; i < many * stride; ++i) data[i] = i + rank;
        MPI_Ireduce(rank == root ? MPI_IN_PLACE : data, data, many, shifted, op, root, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        for (int i = shift; rank == root && i < many * stride; i += stride)
            wrong += data[i] != size * i + size * (size - 1) / 2;
        free(data);
    }
    printf("%s: %d elements are wrong\n", wrong ? "BUG" : "OK", wrong);
    MPI_Op_free(&op);
    MPI_Type_free(&shifted);
    MPI_Finalize();
    return wrong != 0;
}
