/* Open MPI: MPI_File_open of a path longer than the system takes ends the process.
 *
 * build: mpicc openmpi_file_open_long_path.c -o file_open_long_path       run: mpiexec -n 1 ./file_open_long_path
 * MPI-5.0 section 14.7: errors of files come back as a code, for the default error handler of files is
 *   MPI_ERRORS_RETURN; MPI_ERR_BAD_FILE is for invalid file names, such as a path that is too long.
 * expected: an error code.
 * observed: a segmentation fault (Open MPI 4.1.4, 4.1.8).
 */
// run: np=1 timeout=20
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char** argv) {
    static char path[6000];
    int code;
    MPI_File file;
    MPI_Init(&argc, &argv);
    memset(path, 'x', sizeof path - 1);
    memcpy(path, "/tmp/", 5);
    code = MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    puts(code == MPI_SUCCESS ? "BUG: a file with a name of 6000 characters is opened" : "OK");
    MPI_Finalize();
    return code == MPI_SUCCESS;
}
