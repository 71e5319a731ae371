/* MPICH: MPI_File_iwrite_at and MPI_File_iread_at in external32 use a buffer that they have freed.
 *
 * build: mpicc file_external32_nonblocking.c -o nonblocking     run: mpiexec -n 1 ./nonblocking
 * MPI-5.0 section 14.5: in external32 read and write operations convert all data; section 14.4.1.2: nonblocking ones do what blocking
 *   ones do.
 * expected: the numbers that were written.
 * observed: other ones, or the process is ended by a signal: the buffer of the conversion is freed before the access is complete.
 */
// run: np=1 timeout=20 runs=5
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
    enum { n = 2000, rounds = 50 };
    static int out[n], in[n];
    MPI_File file;
    MPI_Request request;
    int wrong = 0;
    char path[] = "/tmp/assay_external32_nonblocking-XXXXXX";
    MPI_Init(&argc, &argv);
    if (mkstemp(path) < 0) return 2;
    MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                  &file);
    MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "external32", MPI_INFO_NULL);
    for (int round = 0; round < rounds; ++round) {
        for (int i = 0; i < n; ++i) out[i] = round * n + i, in[i] = -1;
        MPI_File_iwrite_at(file, 0, out, n, MPI_INT, &request);
        for (int i = 0; i < 16; ++i) free(calloc(1, (size_t)n * 4)); // what a program may do meanwhile
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_File_iread_at(file, 0, in, n, MPI_INT, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        for (int i = 0; i < n; ++i) wrong += in[i] != out[i];
    }
    if (wrong == 0) puts("OK");
    else printf("BUG: %d of %d numbers are wrong\n", wrong, rounds * n);
    MPI_File_close(&file);
    MPI_Finalize();
    return wrong != 0;
}
