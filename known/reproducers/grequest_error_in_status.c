/* The error of a generalized request does not reach the status of a call for several requests.
 *
 * build: mpicc grequest_error_in_status.c -o status       run: mpiexec -n 1 ./status
 * MPI-5.0 section 13.2: MPI_{WAIT|TEST}{SOME|ALL} put the error code that free_fn returned into the status of its request.
 * expected: MPI_Waitall returns MPI_ERR_IN_STATUS, the status has the class of the user.
 * observed: another code in the status (MPICH), MPI_SUCCESS (Open MPI).
 */
// run: np=1 timeout=10
#include <mpi.h>
#include <stdio.h>

static int query(void* state, MPI_Status* status) {
    (void)state;
    MPI_Status_set_elements(status, MPI_BYTE, 0);
    MPI_Status_set_cancelled(status, 0);
    return MPI_SUCCESS;
}
static int release(void* state) { return *(int*)state; }
static int cancel(void* state, int complete) {
    (void)state, (void)complete;
    return MPI_SUCCESS;
}

int main(int argc, char** argv) {
    int ours, code, of_call = -1, of_status = -1, broken;
    MPI_Request request;
    MPI_Status status;
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Add_error_class(&ours);
    MPI_Grequest_start(query, release, cancel, &ours, &request);
    MPI_Grequest_complete(request);
    status.MPI_ERROR = -1;
    code = MPI_Waitall(1, &request, &status);
    MPI_Error_class(code, &of_call);
    if (of_call == MPI_ERR_IN_STATUS) MPI_Error_class(status.MPI_ERROR, &of_status);
    broken = of_call != MPI_ERR_IN_STATUS || of_status != ours;
    printf("%s: free_fn returned %d, MPI_Waitall %d (MPI_ERR_IN_STATUS is %d), the status has one of class %d\n",
           broken ? "BUG" : "OK", ours, code, MPI_ERR_IN_STATUS, of_status);
    MPI_Finalize();
    return broken;
}
