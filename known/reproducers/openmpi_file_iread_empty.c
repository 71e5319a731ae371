/* Open MPI: a nonblocking data access of elements without data divides by zero.
 *
 * build: mpicc openmpi_file_iread_empty.c -o iread_empty     run: mpiexec -n 1 ./iread_empty
 * MPI-5.0 section 14.4.1.4: buf, count, datatype are interpreted as in communication; section 5.1.2: the count of
 *   MPI_Type_contiguous is a nonnegative integer, so that a datatype may hold no data.
 * expected: MPI_File_iread of 3 elements of size 0 reads nothing, as MPI_File_read does.
 * observed: SIGFPE in MPI_File_iread, and in MPI_File_iwrite and split collectives (component ompio).
 */
// run: np=1 timeout=20
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char path[] = "/tmp/assay_file_iread_empty_XXXXXX"; // another library may run this at the same time

static void divided(int signal) {
    (void)signal;
    static char const text[] = "BUG: SIGFPE\n";
    (void)!write(1, text, sizeof text - 1);
    unlink(path);
    _exit(1);
}

int main(int argc, char** argv) {
    MPI_File file;
    MPI_Request request;
    MPI_Datatype empty;
    int data[4] = {0};
    MPI_Init(&argc, &argv);
    signal(SIGFPE, divided);
    MPI_Type_contiguous(0, MPI_INT, &empty);
    MPI_Type_commit(&empty);
    if (mkstemp(path) < 0) return 2;
    MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                  &file);
    MPI_File_read(file, data, 3, empty, MPI_STATUS_IGNORE);
    MPI_File_iread(file, data, 3, empty, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    puts("OK");
    MPI_File_close(&file);
    MPI_Type_free(&empty);
    MPI_Finalize();
    return 0;
}
