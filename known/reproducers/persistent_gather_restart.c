/* MPICH 4.0, Intel MPI: persistent gather, scatter and allgather copy blocks when they are initialized, not when started.
 *
 * build: mpicc persistent_gather_restart.c -o persistent_gather_restart      run: mpiexec -n 2 ./persistent_gather_restart
 * MPI-5.0 section 6.13: a started persistent operation has the same effect as its blocking counterpart; the data is that
 *   of the send buffers when it is started.
 * expected: each start delivers what the send buffers hold then.
 * observed: MPI_Gather_init: the root's own block is what lay there at the initialization, or garbage. MPI_Scatter_init,
 *   MPI_Allgather_init: from the second start on, rank 1 lacks a block.
 */
// run: np=2 timeout=20
#include <mpi.h>
#include <stdio.h>

enum { n = 4 };

int main(int argc, char** argv) {
    int rank, size, wrong = 0, one[n], all[16 * n];
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    char const* const names[] = {"MPI_Gather_init", "MPI_Scatter_init", "MPI_Allgather_init"};
    for (int call = 0; call < 3; ++call) {
        int bad = 0;
        if (call == 0) MPI_Gather_init(one, n, MPI_INT, all, n, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
        else if (call == 1)
            MPI_Scatter_init(all, n, MPI_INT, one, n, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
        else MPI_Allgather_init(one, n, MPI_INT, all, n, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
        for (int round = 0; round < 2; ++round) {
            for (int i = 0; i < n; ++i) one[i] = call == 1 ? -1 : 100 * round + 10 * rank + i;
            for (int i = 0; i < n * size; ++i) all[i] = call == 1 ? 100 * round + 10 * (i / n) + i % n : -1;
            MPI_Start(&request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            for (int i = 0; call == 1 && i < n; ++i) bad += one[i] != 100 * round + 10 * rank + i;
            for (int i = 0; (call == 0 && rank == 0 || call == 2) && i < n * size; ++i)
                bad += all[i] != 100 * round + 10 * (i / n) + i % n;
        }
        MPI_Request_free(&request);
        if (bad > 0) printf("BUG: %s, rank %d: %d of the numbers of two starts are wrong\n", names[call], rank, bad);
        wrong += bad;
    }
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (wrong == 0 && rank == 0) printf("OK\n");
    MPI_Finalize();
    return wrong != 0;
}
