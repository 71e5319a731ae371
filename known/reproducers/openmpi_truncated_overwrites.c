/* Open MPI: a large message that is longer than its receive is written over the end of the receive buffer.
 *
 * build: mpicc openmpi_truncated_overwrites.c -o truncated_overwrites        run: mpiexec -n 2 ./truncated_overwrites
 * MPI-5.0 section 3.2.4: the receive buffer consists of `count` elements; section 9.4: after an error the content of output buffers is
 *   undefined, which other memory is not.
 * expected: the ints after a receive buffer of 49,998 ints are as they were when a message of 50,000 ints comes.
 * observed: both are overwritten, and MPI_Recv returns MPI_ERR_TRUNCATE.
 */
// run: np=2 timeout=20
#include <mpi.h>
#include <stdio.h>

#define N 50000
static int out[N], in[N + 4];

int main(int argc, char** argv) {
    int rank, i, over = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (i = 0; i < N; ++i) out[i] = i;
    for (i = 0; i < N + 4; ++i) in[i] = -77;
    if (rank == 0) MPI_Send(out, N, MPI_INT, 1, 0, MPI_COMM_WORLD);
    if (rank == 1) {
        MPI_Recv(in, N - 2, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (i = N - 2; i < N + 4; ++i) over += in[i] != -77;
        printf("%s: %d ints after the receive buffer were overwritten\n", over ? "BUG" : "OK", over);
    }
    MPI_Finalize();
    return over != 0;
}
