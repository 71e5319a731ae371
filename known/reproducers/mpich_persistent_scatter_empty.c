/* MPICH 4.0: a persistent scatter of elements without data cannot be started a second time.
 *
 * build: mpicc mpich_persistent_scatter_empty.c -o persistent_scatter_empty        run: mpiexec -n 3 ./persistent_scatter_empty
 * MPI-5.0 section 6.13: a persistent collective operation may be started again when it has completed.
 * expected: each start completes.
 * observed: MPI_Wait of the second one returns an error: "MPIDU_Sched_progress_state: Invalid communicator".
 */
// run: np=3 timeout=20
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    int rank;
    char out[4] = {0}, in[4] = {0};
    MPI_Datatype empty;
    MPI_Request request;
    MPI_Comm other;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    MPI_Comm_set_errhandler(other, MPI_ERRORS_RETURN);
    MPI_Type_contiguous(0, MPI_INT, &empty);
    MPI_Type_commit(&empty);
    MPI_Scatter_init(out, 2, empty, in, 2, empty, 0, other, MPI_INFO_NULL, &request);
    for (int i = 0; i < 3; ++i) {
        if (MPI_Start(&request) == MPI_SUCCESS && MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS) continue;
        printf("BUG: rank %d: start %d fails\n", rank, i + 1);
        fflush(stdout);
        MPI_Abort(MPI_COMM_WORLD, 1); // others may wait in vain
    }
    if (rank == 0) printf("OK\n");
    MPI_Request_free(&request);
    MPI_Comm_free(&other);
    MPI_Type_free(&empty);
    MPI_Finalize();
    return 0;
}
