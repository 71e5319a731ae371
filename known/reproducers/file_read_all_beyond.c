/* Intel MPI, MPICH: a collective read of several processes, none of which finds anything, reports what was asked for.
 *
 * build: mpicc file_read_all_beyond.c -o beyond     run: mpiexec -n 2 ./beyond
 * MPI-5.0 section 14.4.1.4: a read that reaches the end of the file returns the amount of data accessed.
 * expected: MPI_Get_count gives 0 in an empty file.
 * observed: 10 (Intel MPI 2021.19, MPICH 4.0.3).
 */
// run: np=2 timeout=20
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
    enum { n = 10 };
    int rank, data[n] = {0}, count = -1;
    char path[] = "/tmp/assay_read_all_beyond-XXXXXX";
    MPI_File file;
    MPI_Status status;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0 && mkstemp(path) < 0) MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_Bcast(path, sizeof path, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
    MPI_File_read_at_all(file, 0, data, n, MPI_INT, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    if (count != 0) printf("BUG: rank %d: MPI_Get_count gives %d, expected 0\n", rank, count);
    else if (rank == 0) puts("OK");
    MPI_File_close(&file);
    MPI_Finalize();
    return count != 0;
}
