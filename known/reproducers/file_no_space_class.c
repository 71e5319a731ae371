/* MPICH, Open MPI, Intel MPI: a write to a full file system raises an error that does not say why.
 *
 * build: mpicc file_no_space_class.c -o no_space_class        run: mpiexec -n 1 ./no_space_class (as root)
 * MPI-5.0 section 14.8, table 16: MPI_ERR_NO_SPACE is "Not enough space", MPI_ERR_IO is "Other I/O error".
 * expected: an error of class MPI_ERR_NO_SPACE.
 * observed: MPI_ERR_IO (MPICH 5.0.2), MPI_ERR_OTHER (Open MPI 5.0.11).
 */
// run: np=1 timeout=20
#define _GNU_SOURCE
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <unistd.h>

enum { n = 1 << 20 };

int main(int argc, char** argv) {
    char folder[] = "/tmp/assay_no_space_XXXXXX", name[sizeof folder + 8];
    static char data[n];
    int code, error_class = MPI_SUCCESS, length, bad;
    char text[MPI_MAX_ERROR_STRING];
    MPI_File file;
    MPI_Init(&argc, &argv);
    if (mkdtemp(folder) == NULL) MPI_Abort(MPI_COMM_WORLD, 2);
    /* A file system of 64 KiB that only this process sees. */
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("assay", folder, "tmpfs", 0, "size=64k") != 0) {
        puts("N/A: this process may not mount a small file system");
        rmdir(folder);
        MPI_Finalize();
        return 0;
    }
    snprintf(name, sizeof name, "%s/file", folder);
    MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file);
    code = MPI_File_write_at(file, 0, data, n, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_Error_class(code, &error_class);
    MPI_Error_string(code, text, &length);
    MPI_File_close(&file);
    umount(folder);
    rmdir(folder);
    bad = code != MPI_SUCCESS && error_class != MPI_ERR_NO_SPACE; /* no error at all is another defect */
    if (bad)
        printf("BUG: the error class is %d, expected MPI_ERR_NO_SPACE (%d): %s\n", error_class, MPI_ERR_NO_SPACE, text);
    else puts("OK");
    MPI_Finalize();
    return bad;
}
