/* MPICH: MPI_Psend_init to MPI_PROC_NULL kills the process.
 *
 * build: mpicc mpich_psend_proc_null.c -o psend_null           run: mpiexec -n 1 ./psend_null
 * MPI-5.0 section 3.10: MPI_PROC_NULL can be used wherever a destination is asked for; such a send succeeds.
 * expected: the send is started, made ready and completed.
 * observed: SIGSEGV in MPI_Psend_init.
 */
// run: np=1 timeout=10
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    int data[2] = {1, 2};
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Psend_init(data, 2, 1, MPI_INT, MPI_PROC_NULL, 7, MPI_COMM_SELF, MPI_INFO_NULL, &request);
    MPI_Start(&request);
    MPI_Pready_range(0, 1, request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
    puts("OK");
    MPI_Finalize();
    return 0;
}
