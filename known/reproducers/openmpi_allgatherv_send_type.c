/* Open MPI: MPI_Allgatherv whose send datatypes have different sizes.
 *
 * build: mpicc openmpi_allgatherv_send_type.c -o allgatherv_send_type      run: mpiexec -n 3 ./allgatherv_send_type
 * MPI-5.0 section 6.7: the type signature of sendcount and sendtype must be that of recvcounts[j] and recvtype; each process
 *   may build it from another datatype.
 * expected: all processes get the 100 ints of process 1.
 * observed: each chooses its algorithm by the size of its own send datatype; they choose different ones and wait for each
 *   other for ever, or give MPI_ERR_TRUNCATE (Open MPI 5.0.11).
 */
// run: np=3 timeout=10
#include <mpi.h>
#include <stdio.h>

enum { n = 100 };

int main(int argc, char** argv) {
    int rank, out[n], in[n], wrong = 0;
    int const counts[3] = {0, n, 0}, places[3] = {0, 0, n};
    MPI_Datatype block;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int i = 0; i < n; ++i) out[i] = i, in[i] = -1;
    MPI_Type_contiguous(counts[rank], MPI_INT, &block);
    MPI_Type_commit(&block);
    if (MPI_Allgatherv(out, 1, block, in, counts, places, MPI_INT, MPI_COMM_WORLD)) wrong = 1;
    for (int i = 0; i < n; ++i) wrong |= in[i] != i;
    if (wrong) puts("BUG: the data of process 1 is not there"), fflush(stdout);
    MPI_Type_free(&block);
    if (!wrong && rank == 0) puts("OK");
    MPI_Finalize();
    return wrong;
}
