/* Open MPI: MPI_Ireduce_scatter_block of elements without data fails.
 *
 * build: mpicc openmpi_ireduce_scatter_block_empty.c -o empty        run: mpiexec -n 2 ./empty
 * MPI-5.0 section 6.9.5: general datatypes may be passed to the user function, so also one of size 0 (section 5.1.2: the
 *   count of MPI_Type_contiguous is a nonnegative integer); sections 6.10.1 and 6.12.9: recvcount is a nonnegative integer.
 * expected: MPI_SUCCESS, as of MPI_Reduce_scatter_block and MPI_Ireduce_scatter.
 * observed: MPI_ERR_SIZE (Open MPI 5.0).
 */
// run: np=2 timeout=20
#include <mpi.h>
#include <stdio.h>

static void nothing(void* in, void* inout, int* length, MPI_Datatype* type) {
    (void)in, (void)inout, (void)length, (void)type;
}

int main(int argc, char** argv) {
    int rank, out[2] = {0}, in[2] = {0};
    MPI_Datatype empty;
    MPI_Op op;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Type_contiguous(0, MPI_INT, &empty);
    MPI_Type_commit(&empty);
    MPI_Op_create(nothing, 1, &op);
    int const blocking = MPI_Reduce_scatter_block(out, in, 3, empty, op, MPI_COMM_WORLD);
    int const code = MPI_Ireduce_scatter_block(out, in, 3, empty, op, MPI_COMM_WORLD, &request);
    if (code == MPI_SUCCESS) MPI_Wait(&request, MPI_STATUS_IGNORE);
    int const bad = blocking != MPI_SUCCESS || code != MPI_SUCCESS;
    char text[MPI_MAX_ERROR_STRING] = "MPI_SUCCESS";
    int length, class = MPI_SUCCESS;
    if (bad) MPI_Error_class(code ? code : blocking, &class), MPI_Error_string(class, text, &length);
    if (bad || rank == 0) printf("%s: 3 elements of size 0: %s\n", bad ? "BUG" : "OK", text);
    MPI_Op_free(&op);
    MPI_Type_free(&empty);
    MPI_Finalize();
    return bad;
}
