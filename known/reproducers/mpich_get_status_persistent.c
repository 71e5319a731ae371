/* MPICH: MPI_Request_get_status of a persistent receive that is complete makes the request inactive.
 *
 * build: mpicc mpich_get_status_persistent.c -o get_status           run: mpiexec -n 1 ./get_status
 * MPI-5.0 section 3.7.6: unlike a test or wait it does not inactivate the request; the status is had from MPI_Wait, too.
 * expected: MPI_Wait after MPI_Request_get_status gives source 0, tag 7 and count 1.
 * observed: an empty status: source MPI_ANY_SOURCE, tag MPI_ANY_TAG, count 0.
 */
// run: np=1 timeout=10
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    int in = 0, out = 1, flag = 0, count = -1;
    MPI_Request receive, send;
    MPI_Status status;
    MPI_Init(&argc, &argv);
    MPI_Recv_init(&in, 1, MPI_INT, 0, 7, MPI_COMM_SELF, &receive);
    MPI_Start(&receive);
    MPI_Isend(&out, 1, MPI_INT, 0, 7, MPI_COMM_SELF, &send);
    while (!flag) MPI_Request_get_status(receive, &flag, &status);
    MPI_Wait(&receive, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    int const broken = status.MPI_SOURCE != 0 || status.MPI_TAG != 7 || count != 1;
    printf("%s: source %d, tag %d, count %d, expected 0, 7 and 1\n", broken ? "BUG" : "OK", status.MPI_SOURCE,
           status.MPI_TAG, count);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    MPI_Request_free(&receive);
    MPI_Finalize();
    return broken;
}
