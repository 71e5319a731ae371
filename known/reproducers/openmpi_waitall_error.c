/* Open MPI: MPI_Waitall of receives one of which has failed.
 *
 * build: mpicc openmpi_waitall_error.c -o waitall_error        run: mpiexec -n 2 ./waitall_error
 * MPI-5.0 section 3.7.5: MPI_Waitall returns MPI_ERR_IN_STATUS if one or more of the communications failed.
 * expected: MPI_Waitall returns MPI_ERR_IN_STATUS when the message for one of the receives is too long.
 * observed: it does not return, with MPI_THREAD_MULTIPLE, if all messages have arrived before (Open MPI 4.1.4, 4.1.8).
 */
// run: np=2 timeout=20
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    int rank, i, code, provided, other = 0, out[3][5] = {{0}}, in[3][5];
    MPI_Request requests[3];
    MPI_Status statuses[3];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (i = 0; i < 3; ++i) MPI_Irecv(in[i], i == 1 ? 3 : 5, MPI_INT, 1 - rank, i, MPI_COMM_WORLD, &requests[i]);
    MPI_Barrier(MPI_COMM_WORLD);
    for (i = 0; i < 3; ++i) MPI_Send(out[i], 5, MPI_INT, 1 - rank, i, MPI_COMM_WORLD);
    MPI_Sendrecv(&rank, 1, MPI_INT, 1 - rank, 7, &other, 1, MPI_INT, 1 - rank, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    code = MPI_Waitall(3, requests, statuses);
    if (code != MPI_ERR_IN_STATUS) printf("BUG: MPI_Waitall returns %d, expected %d\n", code, MPI_ERR_IN_STATUS);
    else if (rank == 0) puts("OK");
    MPI_Finalize();
    return code != MPI_ERR_IN_STATUS;
}
