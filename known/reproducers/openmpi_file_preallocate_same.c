/* Open MPI: MPI_File_preallocate of the size that a file has makes it longer.
 *
 * build: mpicc openmpi_file_preallocate_same.c -o preallocate_same     run: mpiexec -n 1 ./preallocate_same
 * MPI-5.0 section 14.2.5: if size is less than or equal to the current file size, the file size is unchanged.
 * expected: a file of 3 bytes, for which 3 bytes are preallocated, has 3 bytes.
 * observed: 6. Preallocating less or more is right.
 */
// run: np=1 timeout=20
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
    MPI_File file;
    MPI_Offset size = -1;
    char path[] = "/tmp/assay_file_preallocate_same_XXXXXX"; // another library may run this at the same time
    MPI_Init(&argc, &argv);
    if (mkstemp(path) < 0) return 2;
    MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                  &file);
    MPI_File_write_at(file, 0, "abc", 3, MPI_CHAR, MPI_STATUS_IGNORE);
    MPI_File_sync(file);
    MPI_File_preallocate(file, 3);
    MPI_File_get_size(file, &size);
    printf("%s: 3 bytes have become %lld\n", size == 3 ? "OK" : "BUG", (long long)size);
    MPI_File_close(&file);
    MPI_Finalize();
    return size != 3;
}
