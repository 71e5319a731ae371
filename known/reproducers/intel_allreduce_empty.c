/* Intel MPI: MPI_Allreduce and MPI_Reduce of elements without data divide by zero when there are more than two processes.
 *
 * build: mpicc intel_allreduce_empty.c -o intel_allreduce_empty        run: mpiexec -n 4 ./intel_allreduce_empty
 * MPI-5.0 section 6.9.5: general datatypes may be passed to the user function; a datatype without data is one (5.1: a
 *   count of 0 gives an empty type map).
 * expected: MPI_SUCCESS.
 * observed: signal SIGFPE, in the selection of the algorithm.
 */
// run: np=4 timeout=20
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static void nothing(void* in, void* inout, int* count, MPI_Datatype* type) {
    (void)in, (void)inout, (void)count, (void)type;
}

int main(int argc, char** argv) {
    int rank, in = 1, out = 2;
    MPI_Datatype type;
    MPI_Op op;
    setenv("I_MPI_ADJUST_ALLREDUCE_COMPOSITION", "3", 1); /* Intel MPI chooses by the processor */
    setenv("I_MPI_ADJUST_ALLREDUCE_NODE", "8", 1);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Type_contiguous(0, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Op_create(nothing, 1, &op);
    int const error = MPI_Allreduce(&in, &out, 3, type, op, MPI_COMM_WORLD);
    int const bad = error != MPI_SUCCESS || out != 2;
    if (bad || rank == 0) puts(bad ? "BUG: an error or a written buffer" : "OK");
    MPI_Op_free(&op);
    MPI_Type_free(&type);
    MPI_Finalize();
    return bad;
}
