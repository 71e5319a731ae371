/* A call that has called an error handler of the user returns MPI_SUCCESS.
 *
 * build: mpicc mpich_handler_code.c -o handler       run: mpiexec -n 1 ./handler
 * MPI-5.0 section 9.3.1: a handler gets the error code that the call which raised the error is going to return.
 * expected: MPI_Send returns the code that the handler got.
 * observed: MPI_SUCCESS (MPICH 4.3.2, 5.0.2).
 */
// run: np=1 timeout=10
#include <mpi.h>
#include <stdio.h>

static int told = MPI_SUCCESS;
static void handle(MPI_Comm* comm, int* code, ...) {
    (void)comm;
    told = *code;
}

int main(int argc, char** argv) {
    int data = 0, code, broken;
    MPI_Errhandler handler;
    MPI_Init(&argc, &argv);
    MPI_Comm_create_errhandler(handle, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
    code = MPI_Send(&data, 1, MPI_INT, 7, 0, MPI_COMM_SELF); // no such rank
    broken = code == MPI_SUCCESS && told != MPI_SUCCESS;
    printf("%s: the handler got %d, MPI_Send returned %d\n", broken ? "BUG" : "OK", told, code);
    MPI_Errhandler_free(&handler);
    MPI_Finalize();
    return broken;
}
