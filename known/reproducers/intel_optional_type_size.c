/* MPI_Type_size of an optional datatype that is not supported is an error.
 *
 * build: mpicc_abi intel_optional_type_size.c -o size       run: mpiexec -n 1 ./size
 * MPI-5.0 section 20.4: the ABI has a value for every predefined datatype. Lack of support for an optional one is indicated by
 * the size MPI_UNDEFINED.
 * expected: MPI_SUCCESS, with 16 or MPI_UNDEFINED.
 * observed: "Datatype for argument datatype is a null datatype" (Intel MPI 2021.19.0, libmpi_abi.so).
 */
// run: np=1 timeout=10
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int back = 0;
static void at_exit(void) {
    if (!back) puts("BUG: MPI_Type_size of MPI_INTEGER16 ended the process"), fflush(stdout);
}

int main(int argc, char** argv) {
    int size = -7, code, broken;
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    atexit(at_exit);
    printf("MPI_Type_size of MPI_INTEGER16 next\n");
    fflush(stdout);
    code = MPI_Type_size(MPI_INTEGER16, &size);
    back = 1;
    broken = code != MPI_SUCCESS || (size != 16 && size != MPI_UNDEFINED);
    printf("%s: MPI_Type_size returns %d and gives %d\n", broken ? "BUG" : "OK", code, size);
    MPI_Finalize();
    return broken;
}
