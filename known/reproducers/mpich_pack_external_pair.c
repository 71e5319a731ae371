/* MPICH and Intel MPI: canonical packing knows nothing of some pair types.
 *
 * build: mpicc mpich_pack_external_pair.c -o pack_external     run: mpiexec -n 1 ./pack_external
 * MPI-5.0 section 6.9.4: MPI_DOUBLE_INT and MPI_2INT are as if made by MPI_Type_create_struct and MPI_Type_contiguous; section
 *   14.5.2: MPI_DOUBLE takes 8 bytes and MPI_INT 4 in "external32"; section 5.3: MPI_Pack_external_size returns their size.
 * expected: 12 and 8.
 * observed: 1 and 0 (MPICH), 12 and 0 (Intel MPI). MPI_Pack_external and MPI_Unpack_external end the process in an assertion.
 */
// run: np=1 timeout=10
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    MPI_Aint size[2] = {-7, -7};
    int wrong;
    MPI_Init(&argc, &argv);
    MPI_Pack_external_size("external32", 1, MPI_DOUBLE_INT, &size[0]);
    MPI_Pack_external_size("external32", 1, MPI_2INT, &size[1]);
    wrong = size[0] != 12 || size[1] != 8;
    printf("%s: %ld and %ld bytes, expected 12 and 8\n", wrong ? "BUG" : "OK", (long)size[0], (long)size[1]);
    MPI_Finalize();
    return wrong;
}
