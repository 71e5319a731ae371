/* Open MPI: MPI_File_preallocate fails on a process, which leaves the collective call without the others.
 *
 * build: mpicc openmpi_file_preallocate.c -o file_preallocate        run: mpiexec -n 2 ./file_preallocate
 * MPI-5.0 section 14.2.5: MPI_File_preallocate is collective; all processes in the group pass identical values for size.
 * expected: MPI_SUCCESS on all processes, 100 times.
 * observed: an undefined error code on processes other than the first one, or a later collective call never returns
 *   (Open MPI 4.1 and 5.0).
 */
// run: np=2 timeout=60 runs=3
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { n = 64 };

static void bug(int number) {
    (void)number;
    puts("BUG: a collective call does not return");
    fflush(stdout);
    _Exit(1);
}

/* What was written, and the size, are known to all (section 14.6.1). */
static void settle(MPI_File file) {
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_sync(file);
}

int main(int argc, char** argv) {
    char name[] = "/tmp/assay_file_preallocate_XXXXXX"; // another library may run this at the same time
    char data[n] = {0};
    int rank, bad = 0;
    MPI_Offset bytes;
    MPI_File file;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    signal(SIGALRM, bug);
    if (rank == 0 && mkstemp(name) < 0) MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
    for (int i = 0; i < 100 && !bad; ++i) {
        alarm(20); // for each round: the calls write to the disk
        MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file);
        settle(file);
        MPI_File_seek(file, rank * n, MPI_SEEK_SET);
        MPI_File_write(file, data, n, MPI_BYTE, MPI_STATUS_IGNORE);
        settle(file);
        MPI_File_get_size(file, &bytes);
        settle(file);
        bad = MPI_File_preallocate(file, bytes * 3 / 2) != MPI_SUCCESS;
        if (bad) printf("BUG: rank %d: MPI_File_preallocate returns an error\n", rank);
        fflush(stdout);
        settle(file);
        MPI_File_close(&file);
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0) unlink(name);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (rank == 0 && !bad) puts("OK");
    MPI_Finalize();
    return bad;
}
