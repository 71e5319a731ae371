/* MPICH, Intel MPI: a write with the shared file pointer ends the process where the file system is full.
 *
 * build: mpicc file_shared_full.c -o shared_full        run: mpiexec -n 1 ./shared_full (as root)
 * MPI-5.0 section 14.7: the error handler of a file is MPI_ERRORS_RETURN, "common practice is to catch these errors and
 *   continue executing".
 * expected: MPI_File_write_shared returns an error.
 * observed: the process ends in it (MPICH 5.0.2, Intel MPI 2021.19): the shared file pointer is a file that cannot be written.
 */
// run: np=1 timeout=20
#define _GNU_SOURCE
#include <fcntl.h>
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <unistd.h>

static int back = 0;
static void at_exit(void) {
    if (!back) puts("BUG: MPI_File_write_shared ended the process"), fflush(stdout);
}

int main(int argc, char** argv) {
    char folder[] = "/tmp/assay_shared_full_XXXXXX", name[sizeof folder + 8], filler[sizeof folder + 8];
    static char data[4096];
    int code, bad, descriptor;
    MPI_File file;
    MPI_Init(&argc, &argv);
    if (mkdtemp(folder) == NULL) MPI_Abort(MPI_COMM_WORLD, 2);
    /* A file system of 8 KiB that only this process sees. */
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("assay", folder, "tmpfs", 0, "size=8k") != 0) {
        puts("N/A: this process may not mount a small file system");
        rmdir(folder);
        MPI_Finalize();
        return 0;
    }
    snprintf(name, sizeof name, "%s/file", folder);
    snprintf(filler, sizeof filler, "%s/full", folder);
    descriptor = open(filler, O_WRONLY | O_CREAT, 0600);
    while (write(descriptor, data, sizeof data) > 0) {}
    close(descriptor);
    atexit(at_exit);
    code = MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file);
    if (code == MPI_SUCCESS) {
        code = MPI_File_write_shared(file, data, 100, MPI_BYTE, MPI_STATUS_IGNORE);
        MPI_File_close(&file);
    }
    back = 1;
    bad = code == MPI_SUCCESS;
    puts(bad ? "BUG: MPI_File_write_shared returns MPI_SUCCESS on a file system that is full" : "OK");
    umount(folder);
    MPI_Finalize();
    return bad;
}
