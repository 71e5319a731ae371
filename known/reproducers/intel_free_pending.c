/* Intel MPI: a message that was sent on a communicator that is freed meanwhile ends the process.
 *
 * build: mpicc intel_free_pending.c -o free_pending           run: mpiexec -n 2 ./free_pending
 * MPI-5.0 section 7.4.3: after MPI_Comm_free operations that use the communicator go on as if it were still there.
 * expected: the message arrives.
 * observed: SIGSEGV when it is synchronous and the receive is posted after it.
 */
// run: np=2 timeout=10
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    int rank, out = 7, in = 0;
    MPI_Comm copy, next;
    MPI_Request requests[2];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Issend(&out, 1, MPI_INT, 1 - rank, 0, copy, &requests[1]);
    MPI_Irecv(&in, 1, MPI_INT, 1 - rank, 0, copy, &requests[0]);
    MPI_Comm_free(&copy);
    MPI_Comm_dup(MPI_COMM_WORLD, &next);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    printf("%s: %d, expected 7\n", in == 7 ? "OK" : "BUG", in);
    MPI_Comm_free(&next);
    MPI_Finalize();
    return in != 7;
}
