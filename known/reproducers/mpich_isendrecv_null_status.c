/* MPICH, Intel MPI: the status of MPI_Isendrecv with MPI_PROC_NULL on both sides.
 *
 * build: mpicc mpich_isendrecv_null_status.c -o isendrecv_null_status        run: mpiexec -n 1 ./isendrecv_null_status
 * MPI-5.0 section 3.10: when a receive with source = MPI_PROC_NULL is executed then the status object returns source = MPI_PROC_NULL,
 *   tag = MPI_ANY_TAG and count = 0.
 * expected: that.
 * observed: source and tag are as they were.
 */
// run: np=1 timeout=20
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
#if MPI_VERSION >= 4 || defined(MPI_SESSION_NULL)
    int out = 1, in = 0, wrong;
    MPI_Request request;
    MPI_Status status;
    status.MPI_SOURCE = status.MPI_TAG = -77;
    MPI_Isendrecv(&out, 1, MPI_INT, MPI_PROC_NULL, 0, &in, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_SELF, &request);
    MPI_Wait(&request, &status);
    wrong = status.MPI_SOURCE != MPI_PROC_NULL || status.MPI_TAG != MPI_ANY_TAG;
    printf("%s: source %d and tag %d, expected %d and %d\n", wrong ? "BUG" : "OK", status.MPI_SOURCE, status.MPI_TAG,
           MPI_PROC_NULL, MPI_ANY_TAG);
#else
    int const wrong = 0;
    puts("N/A: no MPI_Isendrecv");
#endif
    MPI_Finalize();
    return wrong;
}
