/* MPICH, Intel MPI, Open MPI: a collective read of several processes, the last of which reaches the end of the file, reports what was asked for.
 *
 * build: mpicc file_read_at_all_end.c -o read_at_all_end     run: mpiexec -n 4 ./read_at_all_end
 * MPI-5.0 section 14.4.1.4: a read that reaches the end of the file returns the amount of data accessed.
 * expected: rank 3 reads 5 of 10 integers into every other word of its buffer.
 * observed: MPI_Get_count gives 10.
 */
// run: np=4 timeout=20
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
    enum { n = 10 };
    int rank, data[2 * n] = {0}, count = -1;
    char path[] = "/tmp/assay_read_at_all_end-XXXXXX";
    MPI_File file;
    MPI_Status status;
    MPI_Datatype gaps;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Type_vector(1, 1, 1, MPI_INT, &gaps);
    MPI_Type_create_resized(gaps, 0, 2 * sizeof(int), &gaps);
    MPI_Type_commit(&gaps);
    if (rank == 0 && mkstemp(path) < 0) MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_Bcast(path, sizeof path, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                  &file);
    MPI_File_set_size(file, (MPI_Offset)sizeof(int) * (3 * n + n / 2));
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_sync(file); // so that the reads are in a sequence after the one that sets the size (section 14.6.1)
    MPI_File_read_at_all(file, (MPI_Offset)sizeof(int) * rank * n, data, n, gaps, &status);
    MPI_Get_count(&status, gaps, &count);
    int const expected = rank == 3 ? n / 2 : n;
    if (count != expected) printf("BUG: rank %d: MPI_Get_count gives %d, expected %d\n", rank, count, expected);
    else if (rank == 3) puts("OK");
    MPI_File_close(&file);
    MPI_Finalize();
    return count != expected;
}
