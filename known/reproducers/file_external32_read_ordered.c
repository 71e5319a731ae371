/* MPICH, Intel MPI: MPI_File_read_ordered does not convert what it reads in external32.
 *
 * build: mpicc file_external32_read_ordered.c -o ordered     run: mpiexec -n 1 ./ordered
 * MPI-5.0 section 14.5: in external32 read operations convert all data.
 * expected: 1.
 * observed: 16777216, the bytes as they stand in the file.
 */
// run: np=1 timeout=20
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
    MPI_File file;
    unsigned char const bytes[4] = {0, 0, 0, 1};
    int number = 0;
    char path[] = "/tmp/assay_external32_read_ordered-XXXXXX";
    MPI_Init(&argc, &argv);
    if (mkstemp(path) < 0) return 2;
    MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                  &file);
    MPI_File_write_at(file, 0, bytes, 4, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "external32", MPI_INFO_NULL);
    MPI_File_read_ordered(file, &number, 1, MPI_INT, MPI_STATUS_IGNORE);
    if (number == 1) puts("OK");
    else printf("BUG: read %d, expected 1\n", number);
    MPI_File_close(&file);
    MPI_Finalize();
    return number != 1;
}
