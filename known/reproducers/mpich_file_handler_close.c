/* A file that is closed frees the error handler of MPI_FILE_NULL, which it began with.
 *
 * build: mpicc mpich_file_handler_close.c -o handler       run: mpiexec -n 1 ./handler
 * MPI-5.0 section 14.7: the default of files is the handler of MPI_FILE_NULL, which the user sets; section 9.3.5: it lives
 *   on as long as an object has it.
 * expected: MPI_FILE_NULL keeps its handler, and can be given another.
 * observed: a failed assertion on the number of references in MPI_File_set_errhandler (MPICH 4.0).
 */
// run: np=1 timeout=10
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int done = 0;
static void handle(MPI_File* file, int* code, ...) { (void)file, (void)code; }
static void at_exit(void) {
    if (!done) puts("BUG: the handler of MPI_FILE_NULL is gone"), fflush(stdout);
}

int main(int argc, char** argv) {
    char path[] = "/tmp/assay_file_handler_close_XXXXXX"; // another library may run this at the same time
    MPI_Errhandler handler;
    MPI_File file;
    if (mkstemp(path) < 0) return 2;
    MPI_Init(&argc, &argv);
    atexit(at_exit);
    MPI_File_create_errhandler(handle, &handler);
    MPI_File_set_errhandler(MPI_FILE_NULL, handler);
    MPI_Errhandler_free(&handler);
    MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                  &file);
    MPI_File_close(&file);
    MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
    done = 1;
    puts("OK");
    MPI_Finalize();
    return 0;
}
