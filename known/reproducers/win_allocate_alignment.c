/* MPICH and Intel MPI: memory of MPI_Win_allocate is not aligned on processes after one that asked for an odd number of bytes.
 *
 * build: mpicc win_allocate_alignment.c -o win_allocate_alignment        run: mpiexec -n 2 ./win_allocate_alignment
 * MPI-5.0 section 12.2.2: the default memory alignment requirements described for MPI_ALLOC_MEM apply to all MPI processes with
 *   nonzero size argument; section 9.2: the memory is aligned for every predefined datatype.
 * expected: an address that a double can have on each process.
 * observed: on process 1 an odd address.
 */
// run: np=2 timeout=20
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>

int main(int argc, char** argv) {
    int rank, wrong;
    void* base = NULL;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_allocate(rank == 0 ? 1 : 64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    wrong = (uintptr_t)base % sizeof(double) != 0;
    if (wrong) printf("BUG: rank %d has memory at %p\n", rank, base);
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_LOR, MPI_COMM_WORLD);
    if (!wrong && rank == 0) puts("OK");
    MPI_Win_free(&win);
    MPI_Finalize();
    return wrong;
}
