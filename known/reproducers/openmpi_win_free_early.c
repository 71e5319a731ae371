/* A window is freed while the answers to what was put into it are on their way: a crash when the next one is made.
 *
 * build: mpicc openmpi_win_free_early.c -o early       run: mpiexec -n 2 ./early
 * MPI-5.0 section 12.5.1: MPI_Win_fence completes the RMA operations of the process; section 12.2.5: MPI_Win_free may then free
 *   the window.
 * expected: OK.
 * observed: SIGSEGV in MPI_Win_create, in the procedure for what shared memory has brought (Open MPI 5.0.11; not with 4 KiB, nor with
 *   data in one piece).
 */
// run: np=2 timeout=60
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
    enum { rounds = 100, bytes = 65536 };
    int rank, size;
    MPI_Aint lower, upper;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Type_get_extent(MPI_LONG_DOUBLE_INT, &lower, &upper);
    int const count = bytes / (int)upper;
    char *memory = malloc(bytes), *origin = calloc(1, bytes);
    for (int k = 0; k < rounds; ++k) {
        MPI_Win window;
        MPI_Win_create(memory, bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
        MPI_Win_fence(0, window);
        for (int target = 0; rank == 0 && target < size; ++target)
            MPI_Put(origin, count, MPI_LONG_DOUBLE_INT, target, 0, count, MPI_LONG_DOUBLE_INT, window);
        MPI_Win_fence(0, window);
        MPI_Win_free(&window);
    }
    if (rank == 0) puts("OK");
    MPI_Finalize();
    free(memory);
    free(origin);
    return 0;
}
