/* MPICH, Intel MPI, Open MPI: MPI_LONG has 8 bytes in external32.
 *
 * build: mpicc file_external32_long.c -o long     run: mpiexec -n 1 ./long
 * MPI-5.0 section 14.5.2, table 13: MPI_LONG and MPI_UNSIGNED_LONG have 4 bytes, big-endian. Section 14.5.1: the extent of
 *   MPI_File_get_type_extent, and the distances of a portable filetype, are those in the file.
 * expected: extent 4, and 00 00 00 01 00 00 00 02 in the file.
 * observed: extent 8.
 */
// run: np=1 timeout=20
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char** argv) {
    MPI_File file;
    long const out[2] = {1, 2};
    unsigned char const expected[8] = {0, 0, 0, 1, 0, 0, 0, 2};
    unsigned char found[8] = "";
    MPI_Aint extent = -1;
    char path[] = "/tmp/assay_external32_long-XXXXXX";
    MPI_Init(&argc, &argv);
    if (mkstemp(path) < 0) return 2;
    MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                  &file);
    MPI_File_set_view(file, 0, MPI_LONG, MPI_LONG, "external32", MPI_INFO_NULL);
    MPI_File_get_type_extent(file, MPI_LONG, &extent);
    MPI_File_write_at(file, 0, out, 2, MPI_LONG, MPI_STATUS_IGNORE);
    MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
    MPI_File_read_at(file, 0, found, 8, MPI_BYTE, MPI_STATUS_IGNORE);
    int const wrong = extent != 4 || memcmp(found, expected, 8) != 0;
    if (wrong) printf("BUG: extent %d, byte 3 is %d, byte 7 is %d\n", (int)extent, found[3], found[7]);
    else puts("OK");
    MPI_File_close(&file);
    MPI_Finalize();
    return wrong;
}
