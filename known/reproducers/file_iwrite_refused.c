/* MPICH, Open MPI: a nonblocking write that the system cuts short raises no error, or ends the process in MPI_Wait.
 *
 * build: mpicc file_iwrite_refused.c -o iwrite_refused        run: mpiexec -n 1 ./iwrite_refused
 * MPI-5.0 section 14.4.1.4: "The amount of data accessed will be the amount requested, unless an error is raised".
 * expected: no file may grow beyond 1000 bytes (RLIMIT_FSIZE) and those from 900 to 1100 are written: an error, of MPI_Wait,
 *   MPI_File_sync or MPI_File_close.
 * observed: MPI_SUCCESS of all three and a count of 100 (MPICH 5.0.2); the process dies in MPI_Wait (Open MPI 4.1.8, 5.0.11).
 */
// run: np=1 timeout=20
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { n = 200, limit = 1000 };

int main(int argc, char** argv) {
    char name[] = "/tmp/assay_iwrite_refused_XXXXXX";
    char data[n];
    int count = -1, bad;
    MPI_File file;
    MPI_Request request;
    MPI_Status status;
    struct rlimit before, now;
    MPI_Init(&argc, &argv);
    memset(data, 'a', n);
    if (mkstemp(name) < 0) MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    unlink(name);
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    now = before;
    now.rlim_cur = limit;
    setrlimit(RLIMIT_FSIZE, &now);
    int code = MPI_File_iwrite_at(file, limit - n / 2, data, n, MPI_BYTE, &request);
    if (code == MPI_SUCCESS) code = MPI_Wait(&request, &status);
    if (code == MPI_SUCCESS) MPI_Get_count(&status, MPI_BYTE, &count);
    int const sync = MPI_File_sync(file), close = MPI_File_close(&file);
    setrlimit(RLIMIT_FSIZE, &before);
    bad = code == MPI_SUCCESS && sync == MPI_SUCCESS && close == MPI_SUCCESS;
    if (bad) printf("BUG: MPI_SUCCESS and a count of %d, %d bytes were requested\n", count, n);
    else puts("OK");
    MPI_Finalize();
    return bad;
}
