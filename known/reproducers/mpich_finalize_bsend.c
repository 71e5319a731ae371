/* MPICH 4.3: MPI_Finalize does not send what a large MPI_Bsend has left in the attached buffer.
 *
 * build: mpicc mpich_finalize_bsend.c -o mpich_finalize_bsend        run: mpiexec -n 2 ./mpich_finalize_bsend
 * MPI-5.0 section 11.2.2: a program that ends with MPI_Bsend and MPI_Finalize while its buffer is attached is an example of a
 *   correct one; MPI_Finalize completes what is under way.
 * expected: rank 1 receives the message.
 * observed: both processes wait for ever.
 */
// run: np=2 timeout=20
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { n = 100003 };
static int data[n];

static void late(int signal) {
    static char const text[] = "BUG: the message does not arrive within 10 seconds\n";
    (void)signal;
    if (write(1, text, sizeof text - 1) > 0) {}
    _exit(1);
}

int main(int argc, char** argv) {
    int rank, room;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        MPI_Pack_size(n, MPI_INT, MPI_COMM_WORLD, &room);
        room += MPI_BSEND_OVERHEAD;
        MPI_Buffer_attach(malloc(room), room); // it stays until the process ends
        MPI_Bsend(data, n, MPI_INT, 1, 5, MPI_COMM_WORLD);
    } else if (rank == 1) {
        signal(SIGALRM, late);
        alarm(10);
        usleep(30000);
        MPI_Recv(data, n, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        alarm(0);
        printf("OK\n");
        fflush(stdout);
    }
    MPI_Finalize();
    return 0;
}
