/* MPICH: MPI_CXX_LONG_DOUBLE_COMPLEX is not converted to "external32".
 *
 * build: mpicc mpich_pack_external_complex.c -o pack_external     run: mpiexec -n 1 ./pack_external
 * MPI-5.0 section 14.5.2: an MPI_CXX_LONG_DOUBLE_COMPLEX takes 2*16 bytes, each half a big-endian IEEE number of 16 bytes: 1 is
 *   3f ff and 14 bytes of 0.
 * expected: 3f ff 00 00 as with two elements of MPI_LONG_DOUBLE, and 1 again when that is unpacked.
 * observed: other bytes; MPI_LONG_DOUBLE is right.
 */
// run: np=1 timeout=10
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char** argv) {
    long double const one[2] = {1, 1};
    long double back[2] = {0, 0};
    unsigned char out[64] = {0};
    MPI_Aint position = 0;
    int size = MPI_UNDEFINED;
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    if (MPI_Type_size(MPI_CXX_LONG_DOUBLE_COMPLEX, &size) != MPI_SUCCESS || size != sizeof one) {
        printf("N/A: no C++ datatypes\n");
        MPI_Finalize();
        return 0;
    }
    MPI_Pack_external("external32", one, 2, MPI_LONG_DOUBLE, out, 64, &position);
    if (out[0] != 0x3f || out[1] != 0xff || out[16] != 0x3f || out[17] != 0xff || position != 32) {
        printf("N/A: MPI_LONG_DOUBLE is not converted either\n");
        MPI_Finalize();
        return 0;
    }
    memset(out, position = 0, sizeof out);
    MPI_Pack_external("external32", one, 1, MPI_CXX_LONG_DOUBLE_COMPLEX, out, 64, &position);
    int const right = out[0] == 0x3f && out[1] == 0xff && out[16] == 0x3f && out[17] == 0xff && position == 32;
    if (right) { // and back again
        position = 0;
        MPI_Unpack_external("external32", out, 32, &position, back, 1, MPI_CXX_LONG_DOUBLE_COMPLEX);
        if (back[0] != 1 || back[1] != 1) {
            printf("BUG: unpacked %Lg and %Lg, expected 1 and 1\n", back[0], back[1]);
            MPI_Finalize();
            return 1;
        }
    }
    printf("%s: %02x %02x … %02x %02x, %ld bytes, expected 3f ff … 3f ff, 32 bytes\n", right ? "OK" : "BUG", out[0],
           out[1], out[16], out[17], (long)position);
    MPI_Finalize();
    return !right;
}
