/* MPICH: the status of MPI_Probe of a message to oneself does not say whether it was cancelled.
 *
 * build: mpicc mpich_probe_self_cancelled.c -o probe_self           run: mpiexec -n 1 ./probe_self
 * MPI-5.0 section 3.8.1: a probe gives the status that the receive would give; that says "not cancelled" (3.8.4).
 * expected: MPI_Test_cancelled gives false, whatever the status held before.
 * observed: the bit for it keeps what it was.
 */
// run: np=1 timeout=10
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char** argv) {
    int in = 0, out = 1, flag = -1;
    MPI_Request send;
    MPI_Status status;
    MPI_Init(&argc, &argv);
    memset(&status, 0xa5, sizeof status);
    MPI_Isend(&out, 1, MPI_INT, 0, 7, MPI_COMM_SELF, &send);
    MPI_Probe(0, 7, MPI_COMM_SELF, &status);
    MPI_Test_cancelled(&status, &flag);
    MPI_Recv(&in, 1, MPI_INT, 0, 7, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    printf("%s: MPI_Test_cancelled gives %d, expected 0\n", flag ? "BUG" : "OK", flag);
    MPI_Finalize();
    return flag != 0;
}
