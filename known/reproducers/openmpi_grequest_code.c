/* MPI_Wait and MPI_Request_get_status lose what the callbacks of a generalized request return.
 *
 * build: mpicc openmpi_grequest_code.c -o code       run: mpiexec -n 1 ./code
 * MPI-5.0 section 13.2: the error code that a callback returned is returned by the procedure that called it.
 * expected: the code, from both.
 * observed: MPI_SUCCESS of MPI_Request_get_status, and of MPI_Wait where it is given a status (Open MPI 4.1 and 5.0).
 */
// run: np=1 timeout=10
#include <mpi.h>
#include <stdio.h>

static int of_query = MPI_SUCCESS, of_free = MPI_SUCCESS;
static int query(void* state, MPI_Status* status) {
    (void)state;
    MPI_Status_set_elements(status, MPI_BYTE, 0);
    MPI_Status_set_cancelled(status, 0);
    return of_query;
}
static int release(void* state) {
    (void)state;
    return of_free;
}
static int cancel(void* state, int complete) {
    (void)state, (void)complete;
    return MPI_SUCCESS;
}

int main(int argc, char** argv) {
    int ours, flag, asked, waited, broken;
    MPI_Request request;
    MPI_Status status;
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Add_error_class(&ours);
    MPI_Grequest_start(query, release, cancel, NULL, &request);
    MPI_Grequest_complete(request);
    of_query = ours;
    asked = MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE);
    of_query = MPI_SUCCESS;
    of_free = ours;
    waited = MPI_Wait(&request, &status);
    broken = asked != ours || waited != ours;
    printf("%s: the callbacks returned %d, MPI_Request_get_status %d, MPI_Wait %d\n", broken ? "BUG" : "OK", ours,
           asked, waited);
    MPI_Finalize();
    return broken;
}
