/* An error class whose text was replaced can no longer be removed.
 *
 * build: mpicc mpich_error_string_twice.c -o twice       run: mpiexec -n 1 ./twice
 * MPI-5.0 section 9.5.1: MPI_Add_error_string replaces the old text; a class without codes and text can be removed.
 * expected: MPI_Remove_error_class returns MPI_SUCCESS.
 * observed: "Error class ... still in use (ref_count = 1)" (MPICH 4.3.2, 5.0.2).
 */
// run: np=1 timeout=10
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    int error_class, broken;
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Add_error_class(&error_class);
    MPI_Add_error_string(error_class, "one");
    MPI_Add_error_string(error_class, "another");
    MPI_Remove_error_string(error_class);
    broken = MPI_Remove_error_class(error_class) != MPI_SUCCESS;
    puts(broken ? "BUG: MPI_Remove_error_class refuses a class whose text was replaced" : "OK");
    MPI_Finalize();
    return broken;
}
