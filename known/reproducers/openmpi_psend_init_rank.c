/* Open MPI: MPI_Psend_init to a rank that does not exist ends the process under MPI_ERRORS_RETURN.
 *
 * build: mpicc openmpi_psend_init_rank.c -o psend_init_rank     run: mpiexec -n 1 ./psend_init_rank
 * MPI-5.0 section 9.3: with MPI_ERRORS_RETURN the handler has no effect other than returning the error code to the user.
 * expected: an error code of class MPI_ERR_RANK, as MPI_Send_init returns.
 * observed: the process ends (Open MPI 5.0.11).
 */
// run: np=1 timeout=20
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    int data = 1, code;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    code = MPI_Psend_init(&data, 1, 1, MPI_INT, 1, 0, MPI_COMM_SELF, MPI_INFO_NULL, &request);
    printf("OK: MPI_Psend_init to rank 1 of one process returns %d\n", code);
    fflush(stdout);
    MPI_Finalize();
    return 0;
}
