/* Open MPI: MPI_Pack_size of more bytes than an int can tell.
 *
 * build: mpicc openmpi_pack_size_large.c -o pack_size_large       run: mpiexec -n 1 ./pack_size_large
 * MPI-5.0 section 5.2: if the size cannot be expressed by the int, MPI_Pack_size sets it to MPI_UNDEFINED.
 * expected: MPI_UNDEFINED for 4 GiB.
 * observed: 0 (Open MPI 4.1.4 to 5.0.11).
 */
// run: np=1 timeout=20
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    int size = -7, wrong;
    MPI_Datatype large;
    MPI_Init(&argc, &argv);
    MPI_Type_contiguous(1 << 20, MPI_INT, &large);
    MPI_Type_commit(&large);
    MPI_Pack_size(1 << 10, large, MPI_COMM_SELF, &size);
    wrong = size != MPI_UNDEFINED;
    if (wrong) printf("BUG: the size of 4 GiB is %d, expected %d\n", size, MPI_UNDEFINED);
    else puts("OK");
    MPI_Type_free(&large);
    MPI_Finalize();
    return wrong;
}
