/* MPICH: MPI_Testall that gives false releases the request of a nonblocking file access.
 *
 * build: mpicc mpich_testall_file.c -o testall           run: mpiexec -n 1 ./testall
 * MPI-5.0 section 3.7.5: where MPI_Testall gives false, neither the array of requests nor the statuses are modified; so the
 * requests can be completed by a later call.
 * expected: MPI_Testall gives false until the message has come, then true.
 * observed: it gives false once, then it returns MPI_ERR_IN_STATUS, and the request of the file access is "Invalid MPI_Request".
 */
// run: np=1 timeout=20
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char** argv) {
    int in = 0, out = 7, flag = 0, early = 0, code = MPI_SUCCESS;
    char path[40];
    MPI_Request requests[2], send;
    MPI_File file;
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    snprintf(path, sizeof path, "testall-%06d", (int)(getpid() % 1000000));
    if (MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                      &file)) {
        printf("N/A: no file can be opened here\n");
        MPI_Finalize();
        return 0;
    }
    MPI_Irecv(&in, 1, MPI_INT, 0, 7, MPI_COMM_SELF, &requests[0]);
    MPI_File_iwrite_at(file, 0, &out, 1, MPI_INT, &requests[1]);
    for (int i = 0; i < 20 && code == MPI_SUCCESS; ++i, usleep(1000)) {
        code = MPI_Testall(2, requests, &flag, MPI_STATUSES_IGNORE);
        early |= flag;
    }
    MPI_Isend(&out, 1, MPI_INT, 0, 7, MPI_COMM_SELF, &send);
    for (flag = 0; !flag && code == MPI_SUCCESS;) code = MPI_Testall(2, requests, &flag, MPI_STATUSES_IGNORE);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    int const broken = code != MPI_SUCCESS || early;
    printf("%s: MPI_Testall with a message and a file access returns %d\n", broken ? "BUG" : "OK", code);
    fflush(stdout);
    if (code != MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 1); /* its requests cannot be completed any more */
    MPI_File_close(&file);
    MPI_Finalize();
    return broken;
}
