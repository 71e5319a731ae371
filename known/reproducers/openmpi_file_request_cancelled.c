/* Open MPI: whether a nonblocking data access was cancelled is whatever lay in memory before.
 *
 * build: mpicc openmpi_file_request_cancelled.c -o request_cancelled     run: mpiexec -n 1 ./request_cancelled
 * MPI-5.0 section 14.4.1.4: the status of a data access can be passed to MPI_Test_cancelled to determine if the operation
 *   was cancelled.
 * expected: false for a write that was completed.
 * observed: true, when the memory of the request held something else before (component ompio).
 */
// run: np=1 timeout=20
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { many = 200 };

int main(int argc, char** argv) {
    MPI_File file;
    MPI_Status status;
    MPI_Request requests[many];
    int const data[4] = {1, 2, 3, 4};
    int wrong = 0;
    char path[] = "/tmp/assay_file_request_cancelled_XXXXXX"; // another library may run this at the same time
    MPI_Init(&argc, &argv);
    if (mkstemp(path) < 0) return 2;
    MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                  &file);
    char* blocks[2000];
    for (size_t i = 0; i < 2000; ++i) memset(blocks[i] = malloc(8 + 8 * (i % 200)), 0xa5, 8 + 8 * (i % 200));
    for (size_t i = 0; i < 2000; i += 2) free(blocks[i]);
    for (int i = 0; i < many; ++i) MPI_File_iwrite(file, data, 4, MPI_INT, &requests[i]);
    for (int i = 0; i < many; ++i) {
        int flag = 0;
        MPI_Wait(&requests[i], &status);
        MPI_Test_cancelled(&status, &flag);
        wrong += flag != 0;
    }
    printf("%s: MPI_Test_cancelled is true for %d of %d writes that nobody cancelled\n", wrong ? "BUG" : "OK", wrong,
           many);
    for (size_t i = 1; i < 2000; i += 2) free(blocks[i]);
    MPI_File_close(&file);
    MPI_Finalize();
    return wrong != 0;
}
