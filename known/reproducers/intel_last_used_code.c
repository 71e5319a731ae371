/* Intel MPI: in libmpi_abi.so MPI_APPNUM, MPI_LASTUSEDCODE and MPI_UNIVERSE_SIZE have each other's values.
 *
 * build: mpicc intel_last_used_code.c -o last_used_code           run: mpiexec -n 1 ./last_used_code
 * MPI-5.0 section A.1.1: in the ABI MPI_APPNUM is 505, MPI_LASTUSEDCODE 506 and MPI_UNIVERSE_SIZE 507. Section 9.5.1: the
 * attribute MPI_LASTUSEDCODE is the maximum error class value, at least MPI_ERR_LASTCODE; it counts classes that the user
 * added.
 * expected: at least MPI_ERR_LASTCODE, and at least a class that was added.
 * observed: 0, which is the number of the application (MPI_APPNUM). What is asked for is found under 507. The header of this
 * library (mpi_abi.h of the package impi-devel) has MPI_UNIVERSE_SIZE 505, MPI_APPNUM 506 and MPI_LASTUSEDCODE 507.
 */
// run: np=1 timeout=10
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    int before, behind, flag, added, wrong, *value = NULL;
    MPI_Init(&argc, &argv);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &value, &flag);
    before = flag ? *value : -1;
    MPI_Add_error_class(&added);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &value, &flag);
    behind = flag ? *value : -1;
    wrong = before < MPI_ERR_LASTCODE || behind < added;
    printf("%s: %d, MPI_ERR_LASTCODE is %d; with class %d it is %d\n", wrong ? "BUG" : "OK", before, MPI_ERR_LASTCODE,
           added, behind);
    MPI_Finalize();
    return wrong;
}
