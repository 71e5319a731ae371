/* MPICH 4.0: MPI_Add_error_code for an error class of MPI gives a code below MPI_ERR_LASTCODE.
 *
 * build: mpicc mpich_error_code_value.c -o mpich_error_code_value        run: mpiexec -n 1 ./mpich_error_code_value
 * MPI-5.0 section 9.5.1: it is erroneous to call MPI_Add_error_string for a code or class with a value ≤ MPI_ERR_LASTCODE: such
 *   a code can have no text, although MPI_Add_error_string is there to give user-defined codes one.
 * expected: more than MPI_ERR_LASTCODE.
 * observed: 268, MPI_ERR_LASTCODE is 1073741823.
 */
// run: np=1 timeout=10
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    int code = -1;
    MPI_Init(&argc, &argv);
    MPI_Add_error_code(MPI_ERR_ARG, &code);
    printf("%s: the code is %d, MPI_ERR_LASTCODE is %d\n", code > MPI_ERR_LASTCODE ? "OK" : "BUG", code,
           MPI_ERR_LASTCODE);
    MPI_Finalize();
    return code <= MPI_ERR_LASTCODE;
}
