/* Open MPI: after a split collective write that the system refused, MPI_File_sync fails on every other file.
 *
 * build: mpicc openmpi_file_sync_after_refused.c -o sync_after_refused        run: mpiexec -n 1 ./sync_after_refused
 * MPI-5.0 section 14.6.1: MPI_File_sync needs that the nonblocking requests and split collective operations "on fh" have been
 *   completed, and causes all previous writes to fh to be transferred to the storage device. Those on other files are of no matter.
 * expected: one file may not grow (RLIMIT_FSIZE), so MPI_File_write_ordered_end or its begin fails; that file is closed. Then
 *   MPI_File_sync on another one returns MPI_SUCCESS.
 * observed: it returns MPI_ERR_OTHER, then and until the end of the process (Open MPI 5.0.11).
 */
// run: np=1 timeout=20
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

static MPI_File open_new(char* name) {
    MPI_File file;
    int const fd = mkstemp(name);
    if (fd < 0) MPI_Abort(MPI_COMM_WORLD, 2);
    close(fd);
    MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
    return file;
}

int main(int argc, char** argv) {
    char first[] = "/tmp/assay_sync_XXXXXX", second[] = "/tmp/assay_sync_XXXXXX";
    static char data[2000];
    int before, after;
    MPI_File refused, other;
    struct rlimit old, now;
    MPI_Init(&argc, &argv);
    refused = open_new(first);
    other = open_new(second);
    before = MPI_File_sync(other);

    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &old);
    now = old;
    now.rlim_cur = 1000;
    setrlimit(RLIMIT_FSIZE, &now);
    MPI_File_seek(refused, 1000, MPI_SEEK_SET);
    int const begin = MPI_File_write_all_begin(refused, data, sizeof data, MPI_BYTE);
    int const end = MPI_File_write_all_end(refused, data, MPI_STATUS_IGNORE);
    setrlimit(RLIMIT_FSIZE, &old);
    MPI_File_close(&refused);

    after = MPI_File_sync(other);
    if (before == MPI_SUCCESS && after != MPI_SUCCESS) printf("BUG: MPI_File_sync returns %d on another file\n", after);
    else puts(before == MPI_SUCCESS ? "OK" : "N/A: MPI_File_sync fails from the beginning");
    MPI_File_close(&other);
    MPI_Finalize();
    return after != MPI_SUCCESS;
}
