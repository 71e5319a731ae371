/* MPI_File_iread_at_all that reaches the end of the file: MPICH reports all that was asked for, Open MPI never completes it.
 *
 * build: mpicc file_iread_all_end.c -o iread_all     run: mpiexec -n 1 ./iread_all
 * MPI-5.0 section 14.4.1.4: a read that reaches the end of the file returns the amount of data accessed.
 *   Section 14.6.3: a nonblocking collective access that all processes have called completes.
 * expected: a count of 3 elements of 6, as the file holds no more.
 * observed: 6 (MPICH 4.0.2 to 5.0.2); never complete (Open MPI 4.1.4 to 5.0.11).
 */
// run: np=1 timeout=20
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_File file;
    MPI_Status status;
    MPI_Request request;
    int data[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9}, done = 0, count = -1;
    char path[] = "/tmp/assay_iread_end-XXXXXX";
    if (mkstemp(path) < 0) return 2;
    MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                  &file);
    MPI_File_write_at(file, 0, data, 9, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_iread_at_all(file, 6 * sizeof(int), data, 6, MPI_INT, &request);
    for (double const start = MPI_Wtime(); !done && MPI_Wtime() < start + 10;) MPI_Test(&request, &done, &status);
    if (!done) {
        puts("BUG: a read beyond the end of the file is not complete after 10 seconds");
        fflush(stdout);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Get_count(&status, MPI_INT, &count);
    if (count == 3) puts("OK");
    else printf("BUG: MPI_Get_count gives %d, expected 3\n", count);
    MPI_File_close(&file);
    MPI_Finalize();
    return count != 3;
}
