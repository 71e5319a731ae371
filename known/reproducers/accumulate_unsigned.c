/* Open MPI, MPICH 4.0.2: MPI_Accumulate with MPI_MIN and MPI_MAX compares unsigned integers of 8 bytes as signed ones.
 *
 * build: mpicc accumulate_unsigned.c -o accumulate_unsigned     run: mpiexec -n 2 ./accumulate_unsigned  (or more)
 * MPI-5.0 sections 12.3.4.1 and 6.9.2: MPI_MIN and MPI_MAX of MPI_UNSIGNED_LONG are the minimum and maximum of unsigned
 *   long.
 * expected: the minimum of 1 and 2^63 is 1, the maximum is 2^63.
 * observed: the other way round (Open MPI 5.0.11, MPICH 4.0.2).
 */
// run: np=2 timeout=20
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    int rank, size, wrong;
    unsigned long const large = 1ul << 63;
    unsigned long memory[2] = {1, 1}, given[2] = {large, large};
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Win_create(memory, sizeof memory, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_fence(0, win);
    MPI_Accumulate(&given[0], 1, MPI_UNSIGNED_LONG, (rank + 1) % size, 0, 1, MPI_UNSIGNED_LONG, MPI_MIN, win);
    MPI_Accumulate(&given[1], 1, MPI_UNSIGNED_LONG, (rank + 1) % size, 1, 1, MPI_UNSIGNED_LONG, MPI_MAX, win);
    MPI_Win_fence(0, win);
    wrong = memory[0] != 1 || memory[1] != large;
    if (wrong) printf("BUG: minimum %#lx, expected 0x1; maximum %#lx, expected %#lx\n", memory[0], memory[1], large);
    else puts("OK");
    MPI_Win_free(&win);
    MPI_Finalize();
    return wrong;
}
