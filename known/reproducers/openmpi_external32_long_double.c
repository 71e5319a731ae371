/* Open MPI: MPI_Pack_external of MPI_LONG_DOUBLE.
 *
 * build: mpicc openmpi_external32_long_double.c -o external32_long_double     run: mpiexec -n 1 ./external32_long_double
 * MPI-5.0 section 14.5.2: in external32 MPI_LONG_DOUBLE is the big-endian quadruple precision of IEEE, 16 bytes.
 * expected: -2.5 is c0 00 40 00 00 …
 * observed: the bytes of the 80-bit format of x86 and of its padding (Open MPI 4.1.4 to 5.0.11).
 */
// run: np=1 timeout=20
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char** argv) {
    static unsigned char const expected[16] = {0xc0, 0, 0x40};
    unsigned char packed[64];
    long double value = -2.5L;
    MPI_Aint position = 0;
    int wrong;
    MPI_Init(&argc, &argv);
    MPI_Pack_external("external32", &value, 1, MPI_LONG_DOUBLE, packed, sizeof packed, &position);
    wrong = position != 16 || memcmp(packed, expected, 16) != 0;
    if (wrong)
        printf("BUG: %ld bytes: %02x %02x %02x %02x %02x %02x %02x %02x …\n", (long)position, packed[0], packed[1],
               packed[2], packed[3], packed[4], packed[5], packed[6], packed[7]);
    else puts("OK");
    MPI_Finalize();
    return wrong;
}
