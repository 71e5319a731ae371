/* MPICH 4.0: MPI_Finalize does not complete a large send whose request was freed.
 *
 * build: mpicc finalize_freed_send.c -o freed_send        run: mpiexec -n 3 ./freed_send
 * MPI-5.0 sections 3.7.3, 11.2.2: a process that has started a send and freed its request has done its part, and may call
 *   MPI_Finalize; section 2.9: MPI_Finalize executes what is left of the operation, so that the message still arrives.
 * expected: rank 1 receives the message.
 * observed: both processes wait for ever.
 */
// run: np=3 timeout=20 by=processor
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

enum { n = 100003 };
static int data[n];

static void late(int signal) {
    static char const text[] = "BUG: the message does not arrive within 15 seconds\n";
    (void)signal;
    if (write(1, text, sizeof text - 1) > 0) {}
    _exit(1);
}

int main(int argc, char** argv) {
    int rank;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        MPI_Isend(data, n, MPI_INT, 1, 5, MPI_COMM_WORLD, &request);
        MPI_Request_free(&request);
    } else if (rank == 1) {
        signal(SIGALRM, late);
        alarm(15);
        usleep(30000);
        MPI_Recv(data, n, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        alarm(0);
        printf("OK\n");
        fflush(stdout);
    }
    MPI_Finalize();
    return 0;
}
