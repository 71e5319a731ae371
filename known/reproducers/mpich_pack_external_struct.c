/* MPICH: MPI_Pack_external_size of a struct with members of different types kills the process.
 *
 * build: mpicc mpich_pack_external_struct.c -o pack_external     run: mpiexec -n 1 ./pack_external
 * MPI-5.0 section 5.3: MPI_Pack_external_size returns the size that the data takes in "external32"; section 14.5.2: 4 bytes for an
 *   MPI_INT, 8 for an MPI_DOUBLE, and all data is byte aligned.
 * expected: 12.
 * observed: SIGILL or SIGSEGV in MPI_Pack_external_size.
 */
// run: np=1 timeout=10
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    MPI_Aint size = -7;
    MPI_Datatype type;
    MPI_Init(&argc, &argv);
    MPI_Type_create_struct(2, (int[]){1, 1}, (MPI_Aint[]){0, 8}, (MPI_Datatype[]){MPI_INT, MPI_DOUBLE}, &type);
    MPI_Type_commit(&type);
    MPI_Pack_external_size("external32", 1, type, &size);
    printf("%s: %ld bytes, expected 12\n", size == 12 ? "OK" : "BUG", (long)size);
    MPI_Type_free(&type);
    MPI_Finalize();
    return size != 12;
}
