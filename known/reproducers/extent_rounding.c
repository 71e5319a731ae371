/* The extent of a vector is not rounded up to the alignment of its data.
 *
 * build: mpicc extent_rounding.c -o extent     run: mpiexec -n 1 ./extent
 * MPI-5.0 sections 5.1, 5.1.6: without markers the upper bound of any type map is rounded up so that the extent is a multiple of the
 *   strictest alignment of its basic types; 5.1.7: MPI_Type_get_extent returns that extent.
 * expected: 24 for two doubles that are 12 bytes apart, by MPI_Type_create_struct and by MPI_Type_create_hvector.
 * observed: 20.
 */
// run: np=1 timeout=10
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    MPI_Aint lb = -7, structure = -7, vector = -7;
    MPI_Datatype a, b;
    MPI_Init(&argc, &argv);
    MPI_Type_create_struct(2, (int[]){1, 1}, (MPI_Aint[]){0, 12}, (MPI_Datatype[]){MPI_DOUBLE, MPI_DOUBLE}, &a);
    MPI_Type_create_hvector(2, 1, 12, MPI_DOUBLE, &b);
    MPI_Type_get_extent(a, &lb, &structure);
    MPI_Type_get_extent(b, &lb, &vector);
    printf("%s: extents of struct and vector: %ld and %ld, expected 24\n",
           structure == 24 && vector == 24 ? "OK" : "BUG", (long)structure, (long)vector);
    MPI_Type_free(&a);
    MPI_Type_free(&b);
    MPI_Finalize();
    return structure != 24 || vector != 24;
}
