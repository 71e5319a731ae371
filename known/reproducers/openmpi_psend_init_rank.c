/* Open MPI: MPI_Psend_init to a rank that does not exist ends the process, whatever the error handler.
 *
 * build: mpicc openmpi_psend_init_rank.c -o psend_init_rank     run: mpiexec -n 1 ./psend_init_rank
 * MPI-5.0 section 9.3: an error that is handled is told to the error handler, with which the user decides whether the program goes on.
 * expected: an error code of class MPI_ERR_RANK, as MPI_Send_init returns.
 * observed: the process ends (Open MPI 5.0.11).
 */
// run: np=1 timeout=20
#include <mpi.h>
#include <stdio.h>

static void note(MPI_Comm* comm, int* code, ...) {}

int main(int argc, char** argv) {
    int data = 1, code;
    MPI_Errhandler handler;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Init(&argc, &argv);
    MPI_Comm_create_errhandler(note, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
    code = MPI_Psend_init(&data, 1, 1, MPI_INT, 1, 0, MPI_COMM_SELF, MPI_INFO_NULL, &request);
    printf("OK: MPI_Psend_init to rank 1 of one process returns %d\n", code);
    fflush(stdout);
    MPI_Finalize();
    return 0;
}
