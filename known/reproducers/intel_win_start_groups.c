/* Intel MPI: MPI_Win_start never returns in an epoch after one with another group.
 *
 * build: mpicc intel_win_start_groups.c -o win_start_groups        run: mpiexec -n 2 ./win_start_groups
 * MPI-5.0 section 12.5.2: each MPI process may call MPI_Win_post and MPI_Win_start with another group; the calls of an epoch match
 *   those of the processes in these groups.
 * expected: six epochs, with the process itself and with the other one in turns.
 * observed: both processes wait in MPI_Win_start.
 */
// run: np=2 timeout=20 runs=3
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    static _Alignas(64) int memory = -1;
    int rank, size, wrong = 0;
    MPI_Win win;
    MPI_Group all;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Win_create(&memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_get_group(win, &all);
    for (int epoch = 0; epoch < 6; ++epoch) {
        int const to = (rank + epoch) % size, from = (rank + size - epoch % size) % size, mine = 100 * epoch + rank;
        MPI_Group targets, origins;
        MPI_Group_incl(all, 1, &to, &targets);
        MPI_Group_incl(all, 1, &from, &origins);
        MPI_Win_post(origins, 0, win);
        MPI_Win_start(targets, 0, win);
        MPI_Put(&mine, 1, MPI_INT, to, 0, 1, MPI_INT, win);
        MPI_Win_complete(win);
        MPI_Win_wait(win);
        if (memory != 100 * epoch + from) wrong = 1;
        MPI_Group_free(&targets);
        MPI_Group_free(&origins);
    }
    if (wrong) printf("BUG: rank %d has %d\n", rank, memory);
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_LOR, MPI_COMM_WORLD);
    if (!wrong && rank == 0) puts("OK");
    MPI_Group_free(&all);
    MPI_Win_free(&win);
    MPI_Finalize();
    return wrong;
}
