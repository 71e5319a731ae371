/* MPICH, Intel MPI: a nonblocking collective write that the system refuses says that all is written.
 *
 * build: mpicc file_iwrite_all_refused.c -o iwrite_all_refused        run: mpiexec -n 2 ./iwrite_all_refused
 * MPI-5.0 section 14.4.1.4: "The amount of data accessed will be the amount requested, unless an error is raised".
 * expected: no file may grow beyond 1000 bytes (RLIMIT_FSIZE) and rank 1 writes those from 900 to 1100: an error there, of
 *   MPI_Wait, MPI_File_sync or MPI_File_close.
 * observed: MPI_SUCCESS of all three and a count of 200, with 100 bytes in the file (MPICH 4.0.3 to 5.0.2, Intel MPI 2021.19).
 */
// run: np=2 timeout=20
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { n = 200, limit = 1000 };

int main(int argc, char** argv) {
    char name[] = "/tmp/assay_iwrite_all_refused_XXXXXX";
    char data[n];
    int rank, size, count = -1, bad;
    MPI_File file;
    MPI_Request request;
    MPI_Status status;
    struct rlimit before, now;
    struct stat found;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    memset(data, 'a' + rank, n);
    if (rank == 0 && mkstemp(name) < 0) MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    now = before;
    now.rlim_cur = limit;
    setrlimit(RLIMIT_FSIZE, &now);
    int code = MPI_File_iwrite_at_all(file, limit - n / 2 - (size - 1 - rank) * n, data, n, MPI_BYTE, &request);
    if (code == MPI_SUCCESS) code = MPI_Wait(&request, &status);
    if (code == MPI_SUCCESS) MPI_Get_count(&status, MPI_BYTE, &count);
    int const sync = MPI_File_sync(file), close = MPI_File_close(&file);
    setrlimit(RLIMIT_FSIZE, &before);
    MPI_Barrier(MPI_COMM_WORLD);
    stat(name, &found);
    bad = rank == size - 1 && code == MPI_SUCCESS && sync == MPI_SUCCESS && close == MPI_SUCCESS;
    if (bad)
        printf("BUG: MPI_SUCCESS and a count of %d; the file ends with the first %d of them\n", count,
               (int)found.st_size - limit + n / 2);
    else if (rank == size - 1) puts("OK");
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) unlink(name);
    MPI_Finalize();
    return bad;
}
