/* An error that one process has in MPI_File_open reaches the others as a code that they cannot read.
 *
 * build: mpicc file_open_error_code.c -o code     run: mpiexec -n 2 ./code
 * MPI-5.0 section 9.4: an operation that raises an error returns a valid error code, also MPI_File_open (14.7); section 9.3.5:
 *   MPI_Error_string gives the text of any error code that MPI returned.
 * expected: MPI_Error_string tells on each process that the file exists.
 * observed: on processes other than 0 the library writes "Invalid error code ... (error ring index N invalid)" to stderr, or
 *   gives the text of another error, as codes are valid only in the process that made them (MPICH 4.0.2 to 5.0.2, Intel MPI 2021.19).
 */
// run: np=2 timeout=20
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_File file;
    int rank, length = 0, wrong = 0, all = 0;
    char text[MPI_MAX_ERROR_STRING + 1] = "", said[256] = "";
    char path[] = "/tmp/assay_file_open_error_code-XXXXXX";
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0 && mkstemp(path) < 0) MPI_Abort(MPI_COMM_WORLD, 2); // the file that exists
    MPI_Bcast(path, sizeof path, MPI_CHAR, 0, MPI_COMM_WORLD);
    FILE* const noise = rank == 0 ? NULL : tmpfile();
    if (noise) dup2(fileno(noise), STDERR_FILENO);
    for (int i = 0; i < 3 && rank == 0; ++i)
        MPI_File_delete("/tmp/assay_no_such_file", MPI_INFO_NULL); // its own errors
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 50; ++i) { // whether a code can be read elsewhere is a matter of luck
        int const code =
            MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_EXCL, MPI_INFO_NULL, &file);
        MPI_Error_string(code, text, &length);
    }
    if (noise) {
        fflush(stderr);
        rewind(noise);
        while (!wrong && fgets(said, sizeof said, noise)) // a library may have more to say
            wrong = strstr(said, "nvalid error code") != NULL;
    }
    if (wrong) printf("BUG: rank %d: the library complains of its own error code: %s", rank, said);
    MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) {
        if (all == 0) puts("OK");
        remove(path);
    }
    MPI_Finalize();
    return all != 0;
}
