/* MPICH, Intel MPI, Open MPI: MPI_File_sync fails on a file that was opened for reading.
 *
 * build: mpicc file_sync_read_only.c -o sync     run: mpiexec -n 1 ./sync
 * MPI-5.0 section 14.6.1: MPI_File_sync makes what others have written visible to reads of the calling process; between
 *   different opens it must be used by the reader.
 * expected: MPI_SUCCESS.
 * observed: MPI_ERR_ACCESS or another error, "Cannot write to a file opened with amode MPI_MODE_RDONLY".
 */
// run: np=1 timeout=20
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
    MPI_File file;
    char path[] = "/tmp/assay_sync_read_only-XXXXXX", text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    MPI_Init(&argc, &argv);
    if (mkstemp(path) < 0) return 2;
    MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_RDONLY | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
    int const code = MPI_File_sync(file);
    MPI_Error_string(code, text, &length);
    if (code == MPI_SUCCESS) puts("OK");
    else printf("BUG: MPI_File_sync returns %s\n", text);
    MPI_File_close(&file);
    MPI_Finalize();
    return code != MPI_SUCCESS;
}
