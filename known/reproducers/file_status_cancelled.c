/* The status of a blocking data access keeps the "cancelled" bit that the variable held before.
 *
 * build: mpicc file_status_cancelled.c -o cancelled     run: mpiexec -n 1 ./cancelled
 * MPI-5.0 section 14.4.1.4: the status of a data access can be passed to MPI_Test_cancelled to determine if the operation
 *   was cancelled.
 * expected: false for a write that was completed, whatever the status variable held.
 * observed: true when all bytes of the status were 0xa5 before (MPICH 4.0.2 to 5.0.2, Open MPI 4.1.4 to 5.0.11).
 */
// run: np=1 timeout=20
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_File file;
    MPI_Status status;
    int data[4] = {1, 2, 3, 4}, flag = -1;
    char path[] = "/tmp/assay_status_cancelled-XXXXXX";
    if (mkstemp(path) < 0) return 2;
    MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                  &file);
    memset(&status, 0xa5, sizeof status);
    MPI_File_write(file, data, 4, MPI_INT, &status);
    MPI_Test_cancelled(&status, &flag);
    MPI_File_close(&file);
    if (flag == 0) puts("OK");
    else printf("BUG: MPI_Test_cancelled gives %d for a write that nobody cancelled\n", flag);
    MPI_Finalize();
    return flag != 0;
}
