/* Open MPI: MPI_Get of many pieces by several processes at once takes memory that grows faster than their number.
 *
 * build: mpicc openmpi_get_pieces.c -o get_pieces      run: mpiexec -n 4 ./get_pieces
 * MPI-5.0 section 12.7.3: once enabled, a one-sided communication completes, whatever other processes do; section 2.8: what exceeds the
 *   system's resources may fail, and a high-quality implementation is generous with them. 8,192 pieces of 2 bytes from each process
 *   exceed nothing.
 * expected: OK, no process more than 100 MiB larger.
 * observed: some 700 MiB; with four times the pieces 12 GiB and the end of a process for want of memory, or minutes (Open MPI 5.0.11).
 */
// run: np=4 timeout=60
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

static long largest(void) { /* KiB */
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return used.ru_maxrss;
}

int main(int argc, char** argv) {
    enum { pieces = 8192, most = 100 * 1024 };
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Datatype every_other;
    MPI_Type_create_hvector(pieces, 1, 2 * sizeof(short), MPI_SHORT, &every_other);
    MPI_Type_commit(&every_other);
    short *memory = calloc(2 * pieces, sizeof(short)), *origin = malloc(pieces * sizeof(short));
    MPI_Win window;
    MPI_Win_create(memory, 2 * pieces * sizeof(short), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    long const before = largest();
    for (int target = 0; target < size; ++target) {
        MPI_Win_lock(MPI_LOCK_SHARED, target, 0, window);
        MPI_Get(origin, pieces, MPI_SHORT, target, 0, 1, every_other, window);
        MPI_Win_unlock(target, window);
    }
    long grown = largest() - before, all = 0;
    MPI_Allreduce(&grown, &all, 1, MPI_LONG, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0) printf("%s: a process grew by %ld MiB\n", all > most ? "BUG" : "OK", all / 1024);
    MPI_Win_free(&window);
    MPI_Type_free(&every_other);
    MPI_Finalize();
    free(memory);
    free(origin);
    return all > most;
}
