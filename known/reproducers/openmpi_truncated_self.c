/* Open MPI: a message to oneself that is longer than its receive.
 *
 * build: mpicc openmpi_truncated_self.c -o truncated_self        run: mpiexec -n 1 ./truncated_self
 * MPI-5.0 sections 3.2.4 and 9.4: an overflow error occurs where the message does not fit; MPI_SUCCESS is returned if and only if
 *   the specification was fulfilled.
 * expected: MPI_Wait of the receive, which was started before the send, returns an error.
 * observed: MPI_SUCCESS.
 */
// run: np=1 timeout=20
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    int out[5] = {1, 2, 3, 4, 5}, in[5] = {0};
    MPI_Request receive, send;
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Irecv(in, 3, MPI_INT, 0, 0, MPI_COMM_SELF, &receive);
    MPI_Isend(out, 5, MPI_INT, 0, 0, MPI_COMM_SELF, &send);
    int const code = MPI_Wait(&receive, MPI_STATUS_IGNORE);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    printf("%s: five ints for a receive of three: MPI_Wait returns %s\n", code == MPI_SUCCESS ? "BUG" : "OK",
           code == MPI_SUCCESS ? "MPI_SUCCESS" : "an error");
    MPI_Finalize();
    return code == MPI_SUCCESS;
}
