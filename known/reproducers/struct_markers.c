/* A struct does not keep to the bounds that one of its members was given.
 *
 * build: mpicc struct_markers.c -o struct_markers     run: mpiexec -n 1 ./struct_markers
 * MPI-5.0 section 5.1.6: a type map with bounds set by MPI_Type_create_resized (lb_marker, ub_marker) has the lowest of these
 *   lb_markers as its lower bound, whatever data lies below.
 * expected: lower bound 28 and extent 16 for {char at 0, int of bounds -4 and 12 at 32}.
 * observed: lower bound 0.
 */
// run: np=1 timeout=10
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    MPI_Aint lb = -7, extent = -7;
    MPI_Datatype marked, type;
    MPI_Init(&argc, &argv);
    MPI_Type_create_resized(MPI_INT, -4, 16, &marked);
    MPI_Type_create_struct(2, (int[]){1, 1}, (MPI_Aint[]){0, 32}, (MPI_Datatype[]){MPI_CHAR, marked}, &type);
    MPI_Type_get_extent(type, &lb, &extent);
    int const right = lb == 28 && extent == 16;
    printf("%s: lower bound %ld, extent %ld, expected 28, 16\n", right ? "OK" : "BUG", (long)lb, (long)extent);
    MPI_Type_free(&marked);
    MPI_Type_free(&type);
    MPI_Finalize();
    return !right;
}
