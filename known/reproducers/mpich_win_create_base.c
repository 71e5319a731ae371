/* MPICH 4.0.2: what is put into a window of MPI_Win_create arrives elsewhere, depending on the address of its base.
 *
 * build: mpicc mpich_win_create_base.c -o win_create_base        run: mpiexec -n 2 ./win_create_base
 * MPI-5.0 section 12.2.1: the window begins at address base; section 12.3.1: the target buffer at the base plus the displacement.
 * expected: the int at the base of the window is what the other process put.
 * observed: it is not changed.
 */
// run: np=2 timeout=20
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    static _Alignas(64) int memory[4] = {-1, -1, -1, -1};
    int rank, size, wrong;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int const mine = 100 + rank;
    MPI_Win_create(memory + 1, 2 * sizeof(int), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_fence(0, win);
    MPI_Put(&mine, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    wrong = memory[0] != -1 || memory[1] != 100 + (rank + size - 1) % size || memory[2] != -1;
    if (wrong) printf("BUG: rank %d has %d %d %d\n", rank, memory[0], memory[1], memory[2]);
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_LOR, MPI_COMM_WORLD);
    if (!wrong && rank == 0) puts("OK");
    MPI_Win_free(&win);
    MPI_Finalize();
    return wrong;
}
