/* MPI_Reduce of MPI_DATATYPE_NULL ends the process under MPI_ERRORS_RETURN.
 *
 * build: mpicc mpich_wrong_type.c -o wrong       run: mpiexec -n 1 ./wrong
 * MPI-5.0 section 9.3: which errors are found is the library's affair; with MPI_ERRORS_RETURN one that is found does nothing but
 *   come back as a code: the library does not end the process (section 2.8: the state of MPI is undefined then).
 * expected: an error code.
 * observed: a failed assertion (MPICH 4.3.2, 5.0.2).
 */
// run: np=1 timeout=10
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int back = 0;
static void at_exit(void) {
    if (!back) puts("BUG: MPI_Reduce of MPI_DATATYPE_NULL ended the process"), fflush(stdout);
}

int main(int argc, char** argv) {
    int in = 1, out = 0, code;
    MPI_Init(&argc, &argv);
    atexit(at_exit);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    code = MPI_Reduce(&in, &out, 1, MPI_DATATYPE_NULL, MPI_SUM, 0, MPI_COMM_WORLD);
    back = 1;
    printf("OK: MPI_Reduce of MPI_DATATYPE_NULL returns %d\n", code);
    MPI_Finalize();
    return 0;
}
