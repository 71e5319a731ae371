/* Open MPI: MPI_Accumulate with logical and bitwise operations does something else.
 *
 * build: mpicc openmpi_accumulate_op.c -o accumulate_op     run: mpiexec -n 2 ./accumulate_op  (or more ranks)
 * MPI-5.0 section 12.3.4.1: any of the predefined operations of MPI_Reduce can be used; section 6.9.2: logical operations
 *   are defined for C integers and C booleans, bitwise ones for C integers.
 * expected: 12 in the window and 10 accumulated give 8 (and), 14 (or), 6 (exclusive or), 1 (logical and, or), 0 (logical
 *   exclusive or).
 * observed: the window holds 12 after all of them, 0 after bitwise exclusive or (Open MPI 5.0.11); only the logical ones
 *   are wrong in 4.1.8. Windows of MPI_Win_allocate are not concerned.
 */
// run: np=2 timeout=20
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    int rank, size, wrong = 0;
    long memory[6], given[6];
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Op const ops[6] = {MPI_BAND, MPI_BOR, MPI_BXOR, MPI_LAND, MPI_LOR, MPI_LXOR};
    long const expected[6] = {8, 14, 6, 1, 1, 0};
    MPI_Win_create(memory, sizeof memory, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    for (int i = 0; i < 6; ++i) {
        memory[i] = 12;
        given[i] = 10;
    }
    MPI_Win_fence(0, win);
    for (int i = 0; i < 6; ++i) MPI_Accumulate(&given[i], 1, MPI_LONG, (rank + 1) % size, i, 1, MPI_LONG, ops[i], win);
    MPI_Win_fence(0, win);
    for (int i = 0; i < 6; ++i) wrong |= memory[i] != expected[i];
    if (wrong)
        printf("BUG: and, or, exclusive or, and the logical ones give {%ld, %ld, %ld, %ld, %ld, %ld}, expected "
               "{8, 14, 6, 1, 1, 0}\n",
               memory[0], memory[1], memory[2], memory[3], memory[4], memory[5]);
    else puts("OK");
    MPI_Win_free(&win);
    MPI_Finalize();
    return wrong;
}
