/* MPICH, Intel MPI, Open MPI: MPI_WCHAR cannot be written in external32.
 *
 * build: mpicc file_external32_wchar.c -o wide     run: mpiexec -n 1 ./wide
 * MPI-5.0 section 14.5.2: wide characters stand in Unicode, and have 2 bytes (table 13).
 * expected: 00 41 20 ac in the file for the letter A and the euro sign.
 * observed: an assertion fails (MPICH, Intel MPI), 4 bytes each (Open MPI).
 */
// run: np=1 timeout=20
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

int main(int argc, char** argv) {
    MPI_File file;
    wchar_t const out[2] = {0x41, 0x20ac};
    unsigned char const expected[4] = {0, 0x41, 0x20, 0xac};
    unsigned char found[4] = "";
    char path[] = "/tmp/assay_external32_wchar-XXXXXX";
    MPI_Init(&argc, &argv);
    if (mkstemp(path) < 0) return 2;
    MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                  &file);
    MPI_File_set_view(file, 0, MPI_WCHAR, MPI_WCHAR, "external32", MPI_INFO_NULL);
    MPI_File_write_at(file, 0, out, 2, MPI_WCHAR, MPI_STATUS_IGNORE);
    MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
    MPI_File_read_at(file, 0, found, 4, MPI_BYTE, MPI_STATUS_IGNORE);
    int const wrong = memcmp(found, expected, 4) != 0;
    if (wrong) printf("BUG: found %02x %02x %02x %02x\n", found[0], found[1], found[2], found[3]);
    else puts("OK");
    MPI_File_close(&file);
    MPI_Finalize();
    return wrong;
}
