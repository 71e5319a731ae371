/* MPICH: MPI_Win_start takes the post of another process for that of its target, so that accesses come before the post.
 *
 * build: mpicc win_start_other_post.c -o win_start_other_post        run: mpiexec -n 3 ./win_start_other_post
 * MPI-5.0 section 12.5.2: RMA accesses to each target window will be delayed, if necessary, until the target process executed the
 *   matching call to MPI_WIN_POST.
 * expected: process 1, which stores and then posts, finds what process 0 put afterwards.
 * observed: process 2 has posted its window to process 0 early; the put to process 1 is done at once, and the store replaces it.
 */
// run: np=3 timeout=20 runs=3
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char** argv) {
    int rank, *memory, wrong;
    MPI_Win win;
    MPI_Group all, other;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    MPI_Win_get_group(win, &all);
    *memory = -1;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        int const values[3] = {0, 101, 102};
        usleep(100000); // process 2 has posted
        for (int target = 1; target <= 2; ++target) {
            MPI_Group_incl(all, 1, &target, &other);
            MPI_Win_start(other, 0, win);
            MPI_Put(&values[target], 1, MPI_INT, target, 0, 1, MPI_INT, win);
            MPI_Win_complete(win);
            MPI_Group_free(&other);
        }
    } else {
        int const origin = 0;
        MPI_Group_incl(all, 1, &origin, &other);
        if (rank == 1) {
            usleep(300000); // process 0 is in its first epoch
            *memory = -2;
        }
        MPI_Win_post(other, 0, win);
        MPI_Win_wait(win);
        MPI_Group_free(&other);
    }
    wrong = rank != 0 && *memory != 100 + rank;
    if (wrong) printf("BUG: process %d has %d, expected %d\n", rank, *memory, 100 + rank);
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_LOR, MPI_COMM_WORLD);
    if (!wrong && rank == 0) puts("OK");
    MPI_Group_free(&all);
    MPI_Win_free(&win);
    MPI_Finalize();
    return wrong;
}
