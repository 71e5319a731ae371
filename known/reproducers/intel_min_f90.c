/* Intel MPI: MPI_MIN of a datatype of a Fortran kind gives the maximum.
 *
 * build: mpicc intel_min_f90.c -o min_f90           run: mpiexec -n 1 ./min_f90
 * MPI-5.0 section 6.9.2: MPI_MIN is the minimum, also of what MPI_Type_create_f90_integer and MPI_Type_create_f90_real return.
 * expected: 5 and 2.5.
 * observed: 6 and 3.5.
 */
// run: np=1 timeout=10
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    int five = 5, i = 6, wrong;
    double low = 2.5, d = 3.5;
    MPI_Datatype integer, real;
    MPI_Init(&argc, &argv);
    MPI_Type_create_f90_integer(9, &integer);
    MPI_Type_create_f90_real(15, 307, &real);
    MPI_Reduce_local(&five, &i, 1, integer, MPI_MIN);
    MPI_Reduce_local(&low, &d, 1, real, MPI_MIN);
    wrong = i != 5 || d != 2.5;
    printf("%s: %d and %g, expected 5 and 2.5\n", wrong ? "BUG" : "OK", i, d);
    MPI_Finalize();
    return wrong;
}
