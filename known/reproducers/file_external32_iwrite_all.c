/* MPICH, Intel MPI: MPI_File_iwrite_all in external32 does not write what it was given.
 *
 * build: mpicc file_external32_iwrite_all.c -o iwrite_all     run: mpiexec -n 1 ./iwrite_all
 * MPI-5.0 section 14.5: in external32 write operations convert all data.
 * expected: the numbers 0 to 5, big-endian.
 * observed: others: the converted ones are freed before they are written.
 */
// run: np=1 timeout=20 runs=5
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char** argv) {
    enum { n = 6 };
    static int out[n];
    static unsigned char found[4 * n];
    MPI_File file;
    MPI_Request request;
    int wrong = 0;
    char path[] = "/tmp/assay_external32_iwrite_all-XXXXXX";
    MPI_Init(&argc, &argv);
    if (mkstemp(path) < 0) return 2;
    for (int i = 0; i < n; ++i) out[i] = i;
    MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
    MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "external32", MPI_INFO_NULL);
    MPI_File_iwrite_all(file, out, n, MPI_INT, &request);
    void* const other = malloc(sizeof out); // what a program may do meanwhile
    if (other != NULL) memset(other, 7, sizeof out);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    free(other);
    MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
    MPI_File_read_at(file, 0, found, 4 * n, MPI_BYTE, MPI_STATUS_IGNORE);
    for (int i = 0; i < n; ++i)
        wrong +=
            found[4 * i] != 0 || found[4 * i + 1] != 0 || found[4 * i + 2] != i / 256 || found[4 * i + 3] != i % 256;
    if (wrong == 0) puts("OK");
    else printf("BUG: %d of %d numbers are wrong\n", wrong, n);
    MPI_File_close(&file);
    MPI_Finalize();
    return wrong != 0;
}
