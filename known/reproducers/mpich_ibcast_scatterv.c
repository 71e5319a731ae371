/* MPI_Ibcast of a short message under the algorithm "scatterv, then allgatherv" delivers wrong data, or aborts.
 *
 * build: mpicc mpich_ibcast_scatterv.c -o scatterv       run: mpiexec -n 3 ./scatterv
 * MPI-5.0 section 6.4: all processes have what the root had; which algorithm the user chose is no matter.
 * expected: 100 everywhere.
 * observed: another number, or an error in MPI_Wait, with 3 processes (MPICH 5.0.2).
 */
// run: np=3 timeout=20 runs=3
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int failed(int code) { return code != MPI_SUCCESS; }

int main(int argc, char** argv) {
    int rank, size, data, broken;
    MPI_Request request;
    setenv("MPIR_CVAR_IBCAST_INTRA_ALGORITHM", "tsp_scatterv_recexch_allgatherv", 1);
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    data = rank == size - 1 ? 100 : -1;
    broken = failed(MPI_Ibcast(&data, 1, MPI_INT, size - 1, MPI_COMM_WORLD, &request)) ||
             failed(MPI_Wait(&request, MPI_STATUS_IGNORE)) || data != 100;
    if (broken) printf("BUG: rank %d has %d, expected 100, or got an error\n", rank, data);
    else if (rank == 0) puts("OK");
    fflush(stdout);
    if (broken) MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
