/* Open MPI 4.1: MPI_Accumulate adds complex numbers of 8 bytes as if they were integers.
 *
 * build: mpicc openmpi_accumulate_complex.c -o accumulate_complex     run: mpiexec -n 2 ./accumulate_complex
 * MPI-5.0 section 12.3.4.1: any of the predefined operations of MPI_Reduce can be used; section 6.9.2: MPI_SUM is defined for
 *   complex types.
 * expected: 1+2i and 3+4i give 4+6i.
 * observed: the sum of the bits (windows of MPI_Win_create, component rdma).
 */
// run: np=2 timeout=20
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    int rank, size, bad;
    float memory[2] = {1, 2}, given[2] = {3, 4};
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Win_create(memory, sizeof memory, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_fence(0, win);
    MPI_Win_fence(0, win);
    MPI_Win_lock(MPI_LOCK_SHARED, (rank + 1) % size, 0, win);
    MPI_Accumulate(given, 1, MPI_C_FLOAT_COMPLEX, (rank + 1) % size, 0, 1, MPI_C_FLOAT_COMPLEX, MPI_SUM, win);
    MPI_Win_unlock((rank + 1) % size, win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
    bad = memory[0] != 4 || memory[1] != 6;
    MPI_Win_unlock(rank, win);
    printf("%s: 1+2i and 3+4i give %g+%gi\n", bad ? "BUG" : "OK", memory[0], memory[1]);
    MPI_Win_free(&win);
    MPI_Finalize();
    return bad;
}
