/* MPI_Waitsome returns MPI_ERR_IN_STATUS, but the status of the persistent receive that failed says MPI_SUCCESS.
 *
 * build: mpicc persistent_waitsome_error.c -o waitsome_error       run: mpiexec -n 1 ./waitsome_error
 * MPI-5.0 section 3.7.5: when a request of MPI_Waitsome fails, MPI_ERR_IN_STATUS is returned and the error field of each status is set.
 * expected: MPI_ERR_TRUNCATE in the status of a persistent receive that is too short, as in that of MPI_Irecv.
 * observed: MPI_SUCCESS; MPI_Waitall and MPI_Testall set the field (MPICH 5.0.2, Intel MPI 2021.19.0).
 */
// run: np=1 timeout=10
#include <mpi.h>
#include <stdio.h>

static int told; // what an error handler was called with; some libraries let the call return MPI_SUCCESS then
static void note(MPI_Comm* comm, int* code, ...) {
    (void)comm;
    told = *code;
}

int main(int argc, char** argv) {
    int out[3] = {1, 2, 3}, in[3], count = 0, index = -1, code, of_call = 0, of_status = 0, broken;
    MPI_Errhandler handler;
    MPI_Request send, receive;
    MPI_Status status;
    MPI_Init(&argc, &argv);
    MPI_Comm_create_errhandler(note, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Recv_init(in, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &receive); // too short
    MPI_Start(&receive);
    MPI_Isend(out, 3, MPI_INT, 0, 1, MPI_COMM_SELF, &send);
    status.MPI_ERROR = MPI_SUCCESS;
    code = MPI_Waitsome(1, &receive, &count, &index, &status);
    MPI_Error_class(code == MPI_SUCCESS ? told : code, &of_call);
    MPI_Error_class(status.MPI_ERROR, &of_status);
    broken = of_call == MPI_ERR_IN_STATUS && of_status == MPI_SUCCESS;
    printf("%s: the error of MPI_Waitsome has class %d (MPI_ERR_IN_STATUS is %d), that of the status %d "
           "(MPI_ERR_TRUNCATE is %d)\n",
           broken ? "BUG" : "OK", of_call, MPI_ERR_IN_STATUS, of_status, MPI_ERR_TRUNCATE);
    fflush(stdout);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    MPI_Request_free(&receive);
    MPI_Finalize();
    return broken;
}
