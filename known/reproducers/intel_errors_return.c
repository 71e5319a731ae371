/* Intel MPI: with its libmpi_abi.so an error ends the job although the communicator has MPI_ERRORS_RETURN.
 *
 * build: mpicc intel_errors_return.c -o errors_return           run: mpiexec -n 1 ./errors_return
 * MPI-5.0 section 9.3: with MPI_ERRORS_RETURN the error code is returned to the caller.
 * expected: MPI_Bsend without a buffer returns an error code (section 3.6), or succeeds.
 * observed: "Fatal error in internal_Bsend", and the job ends.
 */
// run: np=1 timeout=10
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    static int out[20000], in[20000];
    int sent;
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    sent = MPI_Bsend(out, 20000, MPI_INT, 0, 7, MPI_COMM_WORLD) == MPI_SUCCESS;
    if (sent) MPI_Recv(in, 20000, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    puts("OK: the job goes on");
    MPI_Finalize();
    return 0;
}
