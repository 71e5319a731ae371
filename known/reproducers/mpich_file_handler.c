/* A file that gets an error handler of its own frees the one of MPI_FILE_NULL.
 *
 * build: mpicc mpich_file_handler.c -o handler       run: mpiexec -n 1 ./handler
 * MPI-5.0 section 14.7: the default of files is the handler of MPI_FILE_NULL, which the user sets; a file's own handler
 *   takes nothing from it.
 * expected: an error of MPI_File_delete, which belongs to no file, calls the handler.
 * observed: a failed assertion (MPICH 5.0.2).
 */
// run: np=1 timeout=10
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int called = 0;
static void handle(MPI_File* file, int* code, ...) {
    (void)file, (void)code;
    called = 1;
}
static void at_exit(void) {
    if (!called) puts("BUG: the handler of MPI_FILE_NULL is gone"), fflush(stdout);
}

int main(int argc, char** argv) {
    char path[] = "/tmp/assay_file_handler_XXXXXX", missing[64]; // another library may run this at the same time
    MPI_Errhandler handler;
    MPI_File file;
    if (mkstemp(path) < 0) return 2;
    MPI_Init(&argc, &argv);
    atexit(at_exit);
    MPI_File_create_errhandler(handle, &handler);
    MPI_File_set_errhandler(MPI_FILE_NULL, handler);
    MPI_Errhandler_free(&handler);
    snprintf(missing, sizeof missing, "%s-missing", path);
    MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                  &file);
    MPI_File_set_errhandler(file, MPI_ERRORS_RETURN);
    MPI_File_close(&file);
    MPI_File_delete(missing, MPI_INFO_NULL); /* an error that belongs to no file */
    if (called) puts("OK");
    MPI_Finalize();
    return !called;
}
