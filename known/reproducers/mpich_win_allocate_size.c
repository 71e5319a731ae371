/* MPICH 4.0: MPI_Win_allocate of a size that 64 does not divide returns the address of other memory.
 *
 * build: mpicc mpich_win_allocate_size.c -o win_allocate_size        run: mpiexec -n 2 ./win_allocate_size
 * MPI-5.0 section 12.2.2: MPI_Win_allocate returns a pointer to at least size bytes of memory, and a window object with which
 *   that memory can be accessed; section 12.2.6: MPI_WIN_BASE is the base address of the window.
 * expected: each process finds what the other one put.
 * observed: on processes other than the first, the window lies elsewhere.
 */
// run: np=2 timeout=20
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    int rank, size, flag = 0, wrong;
    long* memory;
    void* base = NULL;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Win_allocate(sizeof *memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    MPI_Win_get_attr(win, MPI_WIN_BASE, &base, &flag);
    long const mine = 100 + rank;
    MPI_Win_fence(0, win);
    *memory = -1;
    MPI_Win_fence(0, win);
    MPI_Put(&mine, 1, MPI_LONG, (rank + 1) % size, 0, 1, MPI_LONG, win);
    MPI_Win_fence(0, win);
    wrong = *memory != 100 + (rank + size - 1) % size || base != memory;
    if (wrong) printf("BUG: rank %d has %ld at %p, MPI_WIN_BASE is %p\n", rank, *memory, (void*)memory, base);
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_LOR, MPI_COMM_WORLD);
    if (!wrong && rank == 0) puts("OK");
    MPI_Win_free(&win);
    MPI_Finalize();
    return wrong;
}
