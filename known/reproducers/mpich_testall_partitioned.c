/* MPICH: MPI_Testall refuses partitioned requests.
 *
 * build: mpicc mpich_testall_partitioned.c -o testall           run: mpiexec -n 1 ./testall
 * MPI-5.0 section 4.2.2: partitioned operations are completed by MPI_Wait, MPI_Test and their variants.
 * expected: MPI_Testall returns MPI_SUCCESS until both requests are complete.
 * observed: it returns MPI_ERR_REQUEST.
 */
// run: np=1 timeout=10
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    int in[2] = {0, 0}, out[2] = {1, 2}, flag = 0, code = MPI_SUCCESS;
    MPI_Request requests[2];
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Psend_init(out, 2, 1, MPI_INT, 0, 7, MPI_COMM_SELF, MPI_INFO_NULL, &requests[0]);
    MPI_Precv_init(in, 2, 1, MPI_INT, 0, 7, MPI_COMM_SELF, MPI_INFO_NULL, &requests[1]);
    MPI_Startall(2, requests);
    MPI_Pready_range(0, 1, requests[0]);
    while (!flag && code == MPI_SUCCESS) code = MPI_Testall(2, requests, &flag, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 2; ++i) MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    for (int i = 0; i < 2; ++i) MPI_Request_free(&requests[i]);
    int const broken = code != MPI_SUCCESS || in[1] != 2;
    printf("%s: MPI_Testall returned %d, expected MPI_SUCCESS\n", broken ? "BUG" : "OK", code);
    MPI_Finalize();
    return broken;
}
