/* Open MPI: MPI_File_read_ordered of four processes, the last of which reaches the end of the file, reports what was asked for.
 *
 * build: mpicc openmpi_file_read_ordered_end.c -o ordered     run: mpiexec -n 4 ./ordered
 * MPI-5.0 section 14.6.2: in a sequential file the amount accessed is that requested unless the end of file is reached.
 * expected: rank 3 reads 11 of 17 integers.
 * observed: MPI_Get_count gives 17.
 */
// run: np=4 timeout=20
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char** argv) {
    enum { n = 17, missing = 6 };
    int rank, data[n] = {0}, count = -1;
    char path[] = "/tmp/assay_read_ordered_end-XXXXXX";
    MPI_File file;
    MPI_Status status;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        int const fd = mkstemp(path);
        if (fd < 0 || ftruncate(fd, (4 * n - missing) * sizeof(int)) != 0) MPI_Abort(MPI_COMM_WORLD, 2);
        close(fd);
    }
    MPI_Bcast(path, sizeof path, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY | MPI_MODE_SEQUENTIAL | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                  &file);
    MPI_File_read_ordered(file, data, n, MPI_INT, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    int const expected = rank == 3 ? n - missing : n;
    if (count != expected) printf("BUG: rank %d: MPI_Get_count gives %d, expected %d\n", rank, count, expected);
    else if (rank == 3) puts("OK");
    MPI_File_close(&file);
    MPI_Finalize();
    return count != expected;
}
