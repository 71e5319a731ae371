/* MPICH: MPI_Fetch_and_op of MPI_SHORT_INT loses part of the int.
 *
 * build: mpicc mpich_fetch_and_op_short_int.c -o fetch_and_op_short_int     run: mpiexec -n 1 ./fetch_and_op_short_int
 *   (or more ranks)
 * MPI-5.0 section 12.3.4.3: one element of any predefined datatype is combined, by any predefined operation, and the
 *   content of the target before is returned in the result buffer. MPI_SHORT_INT is {short; int} (section 6.9.4).
 * expected: {5, 0x12345678} is fetched, and {7, 0x11223344} is the maximum with its location that is left.
 * observed: fetched and left are only the first 6 bytes of 8, which is 2 of the 4 bytes of the int (MPICH 5.0.2).
 */
// run: np=2 timeout=20
#include <mpi.h>
#include <stdio.h>

struct pair {
    short value;
    int index;
};

int main(int argc, char** argv) {
    struct pair given = {7, 0x11223344}, result = {-1, -1}, *memory;
    int rank, size, wrong;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Win_allocate(sizeof *memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    memory->value = 5;
    memory->index = 0x12345678;
    MPI_Win_fence(0, win);
    MPI_Fetch_and_op(&given, &result, MPI_SHORT_INT, (rank + 1) % size, 0, MPI_MAXLOC, win);
    MPI_Win_fence(0, win);
    wrong = result.value != 5 || result.index != 0x12345678 || memory->value != 7 || memory->index != 0x11223344;
    if (wrong)
        printf("BUG: fetched {%d, %#x}, expected {5, 0x12345678}; {%d, %#x} is left, expected {7, 0x11223344}\n",
               result.value, result.index, memory->value, memory->index);
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_LOR, MPI_COMM_WORLD);
    if (!wrong && rank == 0) puts("OK");
    MPI_Win_free(&win);
    MPI_Finalize();
    return wrong;
}
