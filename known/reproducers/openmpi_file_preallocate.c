/* Open MPI: MPI_File_preallocate of more than a file has fails on some processes, or the processes get out of step.
 *
 * build: mpicc openmpi_file_preallocate.c -o file_preallocate        run: mpiexec -n 2 ./file_preallocate
 * MPI-5.0 section 14.2.5: MPI_File_preallocate is collective; all processes in the group pass identical values for size.
 * expected: MPI_SUCCESS on all processes, 50 times.
 * observed: an undefined error code on processes other than the first one, which then leave the call without the others: the next
 *   collective call never returns (Open MPI 4.1).
 */
// run: np=2 timeout=30
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void bug(int number) {
    (void)number;
    puts("BUG: a collective call does not return");
    fflush(stdout);
    _Exit(1);
}

int main(int argc, char** argv) {
    char const* const name = "/tmp/assay_file_preallocate";
    char data[4096] = {0};
    int rank, bad = 0;
    MPI_File file;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    signal(SIGALRM, bug);
    alarm(15);
    for (int i = 0; i < 50 && !bad; ++i) {
        MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                      &file);
        MPI_File_write_at(file, rank * (MPI_Offset)sizeof data, data, sizeof data, MPI_BYTE, MPI_STATUS_IGNORE);
        MPI_File_sync(file);
        MPI_Barrier(MPI_COMM_WORLD);
        bad = MPI_File_preallocate(file, 3 * sizeof data) != MPI_SUCCESS;
        if (bad) printf("BUG: rank %d: MPI_File_preallocate returns an error\n", rank);
        fflush(stdout);
        MPI_Allreduce(MPI_IN_PLACE, &bad, 1, MPI_INT, MPI_LOR, MPI_COMM_WORLD);
        MPI_File_close(&file);
    }
    if (rank == 0 && !bad) puts("OK");
    MPI_Finalize();
    return bad;
}
