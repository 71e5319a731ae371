/* MPICH, Intel MPI: a persistent MPI_Reduce_scatter_block on an intercommunicator fails, is wrong or crashes.
 *
 * build: mpicc inter_reduce_scatter_block.c -o inter_reduce_scatter_block     run: mpiexec -n 4 ./inter_reduce_scatter_block
 * MPI-5.0 sections 6.10.1 (on intercommunicators the result is that of the other group's data) and 6.13.9.
 * expected: the sum of the contributions of the other group, in each round.
 * observed: MPI_Wait fails or crashes, or the receive buffer stays as it was (MPICH 4.0, Intel MPI). The nonblocking call is
 *   right.
 */
// run: np=4 timeout=20
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static void bug(int number) {
    printf("BUG: %s\n", number ? "a signal in the operation" : "an error or a wrong sum");
    fflush(stdout);
    _Exit(1);
}

int main(int argc, char** argv) {
    int rank;
    MPI_Comm side, inter;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    signal(SIGSEGV, bug);
    for (int first = 2; first >= 1; --first) { // groups of 2 and 2, then of 1 and 3
        int const here = rank < first, others = here ? 4 - first : first;
        int in[6] = {1, 1, 1, 1, 1, 1}, out[6] = {-1, -1, -1, -1, -1, -1}, mine = 6 / (here ? first : 4 - first);
        MPI_Comm_split(MPI_COMM_WORLD, here, 0, &side);
        MPI_Intercomm_create(side, 0, MPI_COMM_WORLD, here ? first : 0, 0, &inter);
        MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
        MPI_Reduce_scatter_block_init(in, out, mine, MPI_INT, MPI_SUM, inter, MPI_INFO_NULL, &request);
        for (int round = 0; round < 2; ++round) {
            int wrong = MPI_Start(&request) || MPI_Wait(&request, MPI_STATUS_IGNORE);
            for (int i = 0; i < mine; ++i) wrong |= out[i] != others;
            if (wrong) bug(0);
        }
        MPI_Request_free(&request);
        MPI_Comm_free(&inter);
        MPI_Comm_free(&side);
    }
    if (rank == 0) puts("OK");
    MPI_Finalize();
    return 0;
}
