/* MPICH: MPI_Win_create_c, MPI_Win_allocate_c and MPI_Win_allocate_shared_c with a displacement unit beyond an int end the process.
 *
 * build: mpicc mpich_large_disp_unit.c -o large_disp_unit        run: mpiexec -n 2 ./large_disp_unit
 * MPI-5.0 section 12.2.1: the displacement unit of MPI_Win_create_c is an MPI_Aint, a positive integer.
 * expected: a window whose displacement 0 can be accessed.
 * observed: "Assertion failed in … ch4_win.c: disp_unit <= INT_MAX", and exit.
 */
// run: np=2 timeout=20
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static void at_exit(void) {
    int finalized = 0;
    MPI_Finalized(&finalized);
    if (!finalized) puts("BUG: the library has called exit");
    fflush(stdout);
}

int main(int argc, char** argv) {
    static _Alignas(64) int memory = -1;
    int rank, size, wrong;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    atexit(at_exit);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int const mine = 100 + rank;
    MPI_Win_create_c(&memory, sizeof memory, (MPI_Aint)3 << 30, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_fence(0, win);
    MPI_Put(&mine, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    wrong = memory != 100 + (rank + size - 1) % size;
    if (wrong) printf("BUG: rank %d has %d\n", rank, memory);
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_LOR, MPI_COMM_WORLD);
    if (!wrong && rank == 0) puts("OK");
    MPI_Win_free(&win);
    MPI_Finalize();
    return wrong;
}
