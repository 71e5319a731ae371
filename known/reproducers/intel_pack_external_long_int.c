/* Intel MPI: in canonical packing the long of MPI_LONG_INT keeps the 8 bytes of the machine.
 *
 * build: mpicc intel_pack_external_long_int.c -o long_int           run: mpiexec -n 1 ./long_int
 * MPI-5.0 section 6.9.4: MPI_LONG_INT is as if made by MPI_Type_create_struct of MPI_LONG and MPI_INT; section 14.5.2: each has
 * 4 bytes in "external32"; section 5.3: MPI_Pack_external_size gives the size that packing needs, exactly the data.
 * expected: 8 bytes.
 * observed: 12, although MPI_LONG has 4.
 */
// run: np=1 timeout=10
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    MPI_Aint size = -7, pair = -7;
    int wrong;
    MPI_Init(&argc, &argv);
    MPI_Pack_external_size("external32", 1, MPI_LONG, &size);
    MPI_Pack_external_size("external32", 1, MPI_LONG_INT, &pair);
    wrong = size == 4 && pair > 8; // where MPI_LONG is wrong that is another defect
    printf("%s: %ld bytes, MPI_LONG has %ld\n", wrong ? "BUG" : "OK", (long)pair, (long)size);
    MPI_Finalize();
    return wrong;
}
