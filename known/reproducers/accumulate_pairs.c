/* Intel MPI, Open MPI: MPI_Get_accumulate and MPI_Raccumulate on several pairs with padding change the target wrongly.
 *
 * build: mpicc accumulate_pairs.c -o accumulate_pairs        run: mpiexec -n 2 ./accumulate_pairs
 * MPI-5.0 sections 12.3.4.1, 12.3.4.2, 12.3.5, 6.9.4: pair types such as MPI_LONG_INT are accumulated element by element.
 * expected: MPI_REPLACE leaves the pairs of the origin at the target.
 * observed: in windows of MPI_Win_create the first pair is right, those after it are made of parts of others: the packed
 *   operands are read as if they had the padding of the datatype.
 */
// run: np=2 timeout=20
#include <mpi.h>
#include <stdio.h>

enum { n = 8 };
struct pair {
    long value;
    int index;
};

int main(int argc, char** argv) {
    int rank, wrong = 0;
    struct pair target[n], out[n], old[n];
    MPI_Win window;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_create(target, sizeof target, sizeof(struct pair), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    for (int call = 0; call < 2; ++call) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, window); // MPI_Win_unlock makes the stores part of the window
        for (int i = 0; i < n; ++i) {
            target[i] = (struct pair){10 * i, i};
            out[i] = (struct pair){10 * i + 1, 100 + i};
        }
        MPI_Win_unlock(rank, window);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Win_lock_all(0, window);
        if (rank == 0 && call == 0)
            MPI_Get_accumulate(out, n, MPI_LONG_INT, old, n, MPI_LONG_INT, 1, 0, n, MPI_LONG_INT, MPI_REPLACE, window);
        if (rank == 0 && call == 1) {
            MPI_Raccumulate(out, n, MPI_LONG_INT, 1, 0, n, MPI_LONG_INT, MPI_REPLACE, window, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
        MPI_Win_unlock_all(window);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, window);
        for (int i = 0; rank == 1 && i < n; ++i) wrong += target[i].value != 10 * i + 1 || target[i].index != 100 + i;
        MPI_Win_unlock(rank, window);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (rank == 1) printf("%s: %d of %d pairs are wrong\n", wrong ? "BUG" : "OK", wrong, 2 * n);
    MPI_Win_free(&window);
    MPI_Finalize();
    return wrong != 0;
}
