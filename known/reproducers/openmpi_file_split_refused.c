/* Open MPI: after a split collective write that the system refuses on a process, the others never leave MPI_File_close.
 *
 * build: mpicc openmpi_file_split_refused.c -o split_refused        run: mpiexec -n 2 ./split_refused
 * MPI-5.0 section 14.6.3: "All blocking routines must complete in finite time unless an exceptional condition (such as resource
 *   exhaustion) causes an error"; section 14.4.5: the end routine completes the operation like MPI_Wait.
 * expected: no file may grow beyond 1000 bytes (RLIMIT_FSIZE) and rank 1 writes those from 900 to 1100: an error there, and
 *   MPI_File_close returns on both.
 * observed: MPI_File_close does not return on rank 0, or MPI_File_write_at_all_end does not (Open MPI 5.0.11).
 */
// run: np=2 timeout=20
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { n = 200, limit = 1000 };

static void bug(int number) {
    (void)number;
    puts("BUG: MPI_File_write_at_all_end or MPI_File_close does not return");
    fflush(stdout);
    _Exit(1);
}

int main(int argc, char** argv) {
    char name[] = "/tmp/assay_split_refused_XXXXXX";
    char data[n];
    int rank, size, bad;
    MPI_File file;
    struct rlimit before, now;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    memset(data, 'a' + rank, n);
    if (rank == 0 && mkstemp(name) < 0) MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) unlink(name);
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    now = before;
    now.rlim_cur = limit;
    setrlimit(RLIMIT_FSIZE, &now);
    signal(SIGALRM, bug);
    alarm(5);
    int code = MPI_File_write_at_all_begin(file, limit - n / 2 - (size - 1 - rank) * n, data, n, MPI_BYTE);
    int const end = MPI_File_write_at_all_end(file, data, MPI_STATUS_IGNORE);
    if (code == MPI_SUCCESS) code = end;
    int const sync = MPI_File_sync(file), close = MPI_File_close(&file);
    alarm(0);
    setrlimit(RLIMIT_FSIZE, &before);
    bad = rank == size - 1 && code == MPI_SUCCESS && sync == MPI_SUCCESS && close == MPI_SUCCESS;
    if (bad) puts("BUG: MPI_SUCCESS, though 100 bytes are not in the file");
    else if (rank == size - 1) puts("OK");
    MPI_Finalize();
    return bad;
}
