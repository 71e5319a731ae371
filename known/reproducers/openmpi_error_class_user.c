/* Open MPI: MPI_Error_class of a class that MPI_Add_error_class made.
 *
 * build: mpicc openmpi_error_class_user.c -o error_class_user     run: mpiexec -n 1 ./error_class_user
 * MPI-5.0 section 9.4: the values of error classes are valid error codes, MPI_Error_class maps a class onto itself;
 *   section 9.5.1: MPI_Add_error_class creates a new error class.
 * expected: the class of the new class is itself.
 * observed: it is MPI_ERR_UNKNOWN (Open MPI 4.1.4 to 5.0.11).
 */
// run: np=1 timeout=20
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    int class = -7, got = -7, wrong;
    MPI_Init(&argc, &argv);
    MPI_Add_error_class(&class);
    MPI_Error_class(class, &got);
    wrong = got != class;
    if (wrong)
        printf("BUG: MPI_Error_class of the class %d gives %d (MPI_ERR_UNKNOWN is %d)\n", class, got, MPI_ERR_UNKNOWN);
    else puts("OK");
    MPI_Finalize();
    return wrong;
}
