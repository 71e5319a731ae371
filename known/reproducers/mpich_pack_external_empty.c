/* MPICH: MPI_Pack_external_size of a datatype without data kills the process.
 *
 * build: mpicc mpich_pack_external_empty.c -o pack_external     run: mpiexec -n 1 ./pack_external
 * MPI-5.0 section 5.1: a count of 0 in a constructor makes a datatype without elements; section 5.3: MPI_Pack_external_size returns
 *   the size of the packed data.
 * expected: 0.
 * observed: SIGILL or SIGSEGV in MPI_Pack_external_size; MPI_Pack_external and MPI_Unpack_external likewise.
 */
// run: np=1 timeout=10
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    MPI_Aint size = -7;
    MPI_Datatype type;
    MPI_Init(&argc, &argv);
    MPI_Type_contiguous(0, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Pack_external_size("external32", 1, type, &size);
    printf("%s: %ld bytes, expected 0\n", size == 0 ? "OK" : "BUG", (long)size);
    MPI_Type_free(&type);
    MPI_Finalize();
    return size != 0;
}
