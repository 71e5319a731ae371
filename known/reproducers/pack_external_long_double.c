/* Intel MPI, Open MPI: canonical packing writes the bytes of a long double in reverse order in place of converting it.
 *
 * build: mpicc pack_external_long_double.c -o long_double           run: mpiexec -n 1 ./long_double
 * MPI-5.0 sections 5.3, 14.5.2: MPI_LONG_DOUBLE is in "external32" an IEEE number of 16 bytes: sign, 15 bits of exponent, 112
 * of fraction.
 * expected: -2.5 as c0 00 40 00 and zeros.
 * observed: 00 00 00 00 00 00 c0 00 a0 00 and zeros, as the processor's format has it.
 */
// run: np=1 timeout=10
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char** argv) {
    unsigned char out[16], right[16] = {0xc0, 0x00, 0x40};
    long double in;
    MPI_Aint position = 0;
    int wrong;
    MPI_Init(&argc, &argv);
    memset(&in, 0, sizeof in);
    in = -2.5L;
    MPI_Pack_external("external32", &in, 1, MPI_LONG_DOUBLE, out, sizeof out, &position);
    wrong = memcmp(out, right, sizeof out) != 0;
    printf("%s:", wrong ? "BUG" : "OK");
    for (int i = 0; i < 16; ++i) printf(" %02x", out[i]);
    printf(", expected c0 00 40 00 and zeros\n");
    MPI_Finalize();
    return wrong;
}
