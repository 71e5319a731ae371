/* MPICH: MPI_Cancel crashes where a small message to a process of the same node has to wait for its turn.
 *
 * build: mpicc mpich_cancel_eager.c -o cancel_eager             run: mpiexec -n 2 ./cancel_eager
 * MPI-5.0 section 3.8.4: a pending send may be marked for cancellation, and either it succeeds or the message is delivered.
 * expected: rank 1 cancels or delivers each of its messages; rank 0 gets as many as it waits for.
 * observed: SIGSEGV in ucp_request_cancel: an eager send by way of shared memory does not note that it is one (is_local in
 * src/mpid/ch4/src/mpidig_send.h), so that MPI_Cancel takes what the request was used for before for a request of UCX.
 */
// run: np=2 timeout=10
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

enum { many = 2000, size = 4 };

int main(int argc, char** argv) {
    static char data[many][size];
    MPI_Request requests[many];
    MPI_Status statuses[many];
    int rank = 0, cancelled = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) {
        for (int i = 0; i < many; ++i) MPI_Isend(data[i], size, MPI_CHAR, 0, 5, MPI_COMM_WORLD, &requests[i]);
        for (int i = 0; i < many; ++i) MPI_Cancel(&requests[i]);
        MPI_Waitall(many, requests, statuses);
        for (int i = 0; i < many; ++i) {
            int flag = 0;
            MPI_Test_cancelled(&statuses[i], &flag);
            cancelled += flag;
        }
        for (int i = 0; i < cancelled; ++i) MPI_Send(data[0], size, MPI_CHAR, 0, 5, MPI_COMM_WORLD);
        printf("OK: %d of %d messages were cancelled, the others delivered\n", cancelled, many);
    } else if (rank == 0) {
        usleep(300000); /* takes no message meanwhile */
        for (int i = 0; i < many; ++i) MPI_Irecv(data[i], size, MPI_CHAR, 1, 5, MPI_COMM_WORLD, &requests[i]);
        MPI_Waitall(many, requests, statuses);
    }
    MPI_Finalize();
    return 0;
}
