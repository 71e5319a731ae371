/* Intel MPI, Open MPI: MPI_LONG_DOUBLE in external32 is not IEEE binary128.
 *
 * build: mpicc file_external32_long_double.c -o quad     run: mpiexec -n 1 ./quad
 * MPI-5.0 section 14.5.2: 16 bytes with 15 bits of exponent, bias 16383 and 112 bits of fraction, big-endian.
 * expected: 3f ff 00 … 00 for 1.
 * observed: the bytes of an x87 number.
 */
// run: np=1 timeout=20
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
    MPI_File file;
    long double const out = 1;
    unsigned char found[16] = "";
    int wrong = 0;
    char path[] = "/tmp/assay_external32_long_double-XXXXXX";
    MPI_Init(&argc, &argv);
    if (mkstemp(path) < 0) return 2;
    MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
    MPI_File_set_view(file, 0, MPI_LONG_DOUBLE, MPI_LONG_DOUBLE, "external32", MPI_INFO_NULL);
    MPI_File_write_at(file, 0, &out, 1, MPI_LONG_DOUBLE, MPI_STATUS_IGNORE);
    MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
    MPI_File_read_at(file, 0, found, 16, MPI_BYTE, MPI_STATUS_IGNORE);
    for (int i = 0; i < 16; ++i) wrong += found[i] != (i == 0 ? 0x3f : i == 1 ? 0xff : 0);
    if (wrong == 0) puts("OK");
    else printf("BUG: %d of 16 bytes are wrong, the first two %02x %02x\n", wrong, found[0], found[1]);
    MPI_File_close(&file);
    MPI_Finalize();
    return wrong != 0;
}
