/* An error that one process has in MPI_File_open reaches the others as a code that they cannot read.
 *
 * build: mpicc file_open_error_code.c -o code     run: mpiexec -n 2 ./code
 * MPI-5.0 section 14.7 and 9.4: MPI_File_open returns an error code, and MPI_Error_string gives the text of any error code
 *   that MPI returned.
 * expected: MPI_Error_string tells on each process that the file exists.
 * observed: on processes other than 0 the library writes "Invalid error code ... (error ring index N invalid)" to stderr, or
 *   gives the text of another error, as codes are valid only in the process that made them (MPICH 4.0.2 to 5.0.2, Intel MPI 2021.19).
 */
// run: np=2 timeout=20
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_File file;
    int rank, length = 0, wrong = 0, all = 0;
    char text[MPI_MAX_ERROR_STRING + 1] = "", said[256] = "";
    char const* const path = "/tmp/assay_file_open_error_code";
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    FILE* const existing = fopen(path, "w");
    if (existing) fclose(existing);
    FILE* const noise = rank == 0 ? NULL : freopen("/tmp/assay_file_open_error_code.stderr", "w+", stderr);
    for (int i = 0; i < 3 && rank == 0; ++i)
        MPI_File_delete("/tmp/assay_no_such_file", MPI_INFO_NULL); // its own errors
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 50; ++i) { // whether a code can be read elsewhere is a matter of luck
        int const code =
            MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_EXCL, MPI_INFO_NULL, &file);
        MPI_Error_string(code, text, &length);
    }
    if (noise) {
        fflush(noise);
        rewind(noise);
        wrong = fgets(said, sizeof said, noise) != NULL;
    }
    if (wrong) printf("BUG: rank %d: the library complains of its own error code: %s", rank, said);
    MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) {
        if (all == 0) puts("OK");
        remove(path);
        remove("/tmp/assay_file_open_error_code.stderr");
    }
    MPI_Finalize();
    return all != 0;
}
