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
    int rank, wrong = 0, sum = 0;
    char out[4] = {0}, in[4] = {0};
    MPI_Datatype empty;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Type_contiguous(0, MPI_INT, &empty);
    MPI_Type_commit(&empty);
    MPI_Scatter_init(out, 2, empty, in, 2, empty, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    for (int i = 0; i < 3; ++i) {
        wrong += MPI_Start(&request) != MPI_SUCCESS;
        wrong += MPI_Wait(&request, MPI_STATUS_IGNORE) != MPI_SUCCESS;
    }
    MPI_Request_free(&request);
    MPI_Reduce(&wrong, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("%s: %d of 18 calls failed\n", sum ? "BUG" : "OK", sum);
    MPI_Type_free(&empty);
    MPI_Finalize();
    return 0;
}
