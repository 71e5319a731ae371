/* MPICH: MPI_Win_complete returns while a large put still reads its buffer.
 *
 * build: mpicc mpich_put_complete_early.c -o put_complete_early             run: mpiexec -n 3 ./put_complete_early
 * MPI-5.0 section 12.5.2: the communication of the epoch is complete at the origin when MPI_Win_complete returns, so that the
 * buffer may be used again.
 * expected: each window holds what was put in this round.
 * observed: now and then it holds, from some byte on, what the origin wrote into its buffer after MPI_Win_complete.
 */
// run: np=3 timeout=60
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { bytes = 1 << 20, rounds = 500 };

int main(int argc, char** argv) {
    int rank = 0, size = 0, bad = 0, all = 0, round = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int const right = (rank + 1) % size, left = (rank + size - 1) % size;
    unsigned char* buffer = malloc(bytes);
    unsigned char* memory = malloc(bytes);
    MPI_Win window;
    MPI_Win_create(memory, bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Group world, to, from;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &right, &to);
    MPI_Group_incl(world, 1, &left, &from);
    for (; round < rounds && all == 0; ++round) {
        memset(buffer, (round + rank) % 256, bytes);
        MPI_Win_post(from, 0, window);
        MPI_Win_start(to, 0, window);
        MPI_Put(buffer, bytes, MPI_BYTE, right, 0, bytes, MPI_BYTE, window);
        MPI_Win_complete(window);
        memset(buffer, 255 - (round + rank) % 256, bytes);
        MPI_Win_wait(window);
        int wrong = 0;
        for (int i = 0; i < bytes; ++i) wrong |= memory[i] != (round + left) % 256;
        bad += wrong;
        if (round % 20 == 19) MPI_Allreduce(&bad, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
    if (rank == 0 && all > 0)
        printf("BUG: %d of %d puts came with what the origin wrote after MPI_Win_complete\n", all, round * size);
    if (rank == 0 && all == 0) printf("OK: %d puts came as they were when MPI_Win_complete returned\n", round * size);
    MPI_Group_free(&from);
    MPI_Group_free(&to);
    MPI_Group_free(&world);
    MPI_Win_free(&window);
    free(memory);
    free(buffer);
    MPI_Finalize();
    return 0;
}
