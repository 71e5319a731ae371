/* MPICH 4.0: MPI_Parrived of an inactive request is refused.
 *
 * build: mpicc mpich_parrived_inactive.c -o mpich_parrived_inactive        run: mpiexec -n 1 ./mpich_parrived_inactive
 * MPI-5.0 section 4.2.2: it may be called with a null or inactive request, and then gives flag true.
 * expected: MPI_SUCCESS, flag is true.
 * observed: an error.
 */
// run: np=1 timeout=10
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    int out = 0, data = 0, flag = -1;
    MPI_Request send, request;
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Psend_init(&out, 1, 1, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_INFO_NULL, &send); // a receive has to have its send
    MPI_Precv_init(&data, 1, 1, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_INFO_NULL, &request);
    int const code = MPI_Parrived(request, 0, &flag);
    int const bug = code != MPI_SUCCESS || flag != 1;
    printf("%s: returned %d, flag is %d, expected %d and 1\n", bug ? "BUG" : "OK", code, flag, MPI_SUCCESS);
    fflush(stdout);
    MPI_Request_free(&send);
    MPI_Request_free(&request);
    MPI_Finalize();
    return bug;
}
