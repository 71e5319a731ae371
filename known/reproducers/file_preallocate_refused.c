/* MPICH, Intel MPI: MPI_File_preallocate for which there is no room returns MPI_SUCCESS on all processes but the first.
 *
 * build: mpicc file_preallocate_refused.c -o preallocate_refused        run: mpiexec -n 2 ./preallocate_refused (as root)
 * MPI-5.0 section 14.2.5: MPI_File_preallocate "ensures that storage space is allocated for the first size bytes".
 * expected: an error on both ranks: the file system has 64 KiB, and 128 KiB are asked for.
 * observed: MPI_SUCCESS on rank 1 (MPICH 5.0.2, Intel MPI 2021.19).
 */
// run: np=2 timeout=20
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

enum { wanted = 128 * 1024 };

int main(int argc, char** argv) {
    char folder[] = "/tmp/assay_preallocate_refused_XXXXXX", name[sizeof folder + 8];
    int rank, code, bad, all, mounted = 0;
    MPI_File file;
    struct stat found;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0 && mkdtemp(folder) == NULL) MPI_Abort(MPI_COMM_WORLD, 2);
    if (rank == 0) mounted = mount("assay", folder, "tmpfs", 0, "size=64k") == 0;
    MPI_Bcast(&mounted, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (!mounted) {
        if (rank == 0) puts("N/A: this process may not mount a small file system"), rmdir(folder);
        MPI_Finalize();
        return 0;
    }
    MPI_Bcast(folder, sizeof folder, MPI_CHAR, 0, MPI_COMM_WORLD);
    snprintf(name, sizeof name, "%s/file", folder);
    MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file);
    code = MPI_File_preallocate(file, wanted);
    MPI_Barrier(MPI_COMM_WORLD);
    stat(name, &found);
    bad = code == MPI_SUCCESS;
    if (bad)
        printf("BUG: rank %d: MPI_SUCCESS, and %ld bytes are allocated\n", rank, 512 * (long)found.st_blocks),
            fflush(stdout);
    MPI_File_close(&file);
    MPI_Allreduce(&bad, &all, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0) umount2(folder, MNT_DETACH), rmdir(folder);
    if (rank == 0 && !all) puts("OK");
    MPI_Finalize();
    return bad;
}
