/* MPICH: canonical packing knows nothing of pair types.
 *
 * build: mpicc mpich_pack_external_pair.c -o pack_external     run: mpiexec -n 1 ./pack_external
 * MPI-5.0 section 6.9.4: MPI_DOUBLE_INT is as if made by MPI_Type_create_struct of MPI_DOUBLE and MPI_INT; section 14.5.2: these take
 *   8 and 4 bytes in "external32"; section 5.3: MPI_Pack_external_size returns the size of the packed data.
 * expected: 12.
 * observed: 1. MPI_Pack_external and MPI_Unpack_external end the process in an assertion.
 */
// run: np=1 timeout=10
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    MPI_Aint size = -7;
    MPI_Init(&argc, &argv);
    MPI_Pack_external_size("external32", 1, MPI_DOUBLE_INT, &size);
    printf("%s: %ld bytes, expected 12\n", size == 12 ? "OK" : "BUG", (long)size);
    MPI_Finalize();
    return size != 12;
}
