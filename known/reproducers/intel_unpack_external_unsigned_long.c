/* Intel MPI: MPI_Unpack_external takes an MPI_UNSIGNED_LONG for a number with a sign.
 *
 * build: mpicc intel_unpack_external_unsigned_long.c -o unsigned_long           run: mpiexec -n 1 ./unsigned_long
 * MPI-5.0 sections 5.3, 14.5.2: MPI_UNSIGNED_LONG has 4 bytes in "external32", and no sign.
 * expected: 80 00 00 00 is 80000000.
 * observed: ffffffff80000000.
 */
// run: np=1 timeout=10
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    unsigned char in[4] = {0x80, 0, 0, 0};
    unsigned long out = 0;
    MPI_Aint position = 0;
    MPI_Init(&argc, &argv);
    MPI_Unpack_external("external32", in, sizeof in, &position, &out, 1, MPI_UNSIGNED_LONG);
    printf("%s: %lx, expected 80000000\n", out == 0x80000000ul ? "OK" : "BUG", out);
    MPI_Finalize();
    return out != 0x80000000ul;
}
