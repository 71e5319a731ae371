/* MPICH: which of several persistent receives has failed, MPI_Waitsome and MPI_Testsome do not say.
 *
 * build: mpicc mpich_some_persistent_error.c -o some_persistent_error        run: mpiexec -n 1 ./some_persistent_error
 * MPI-5.0 section 3.7.5: MPI_Waitsome returns MPI_ERR_IN_STATUS and the error field of each status returned is set to indicate success or
 *   the specific error.
 * expected: the status of the persistent receive that was too small has another error than MPI_SUCCESS.
 * observed: MPI_ERR_IN_STATUS is returned, and all statuses have MPI_SUCCESS.
 */
// run: np=1 timeout=20
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    int out[5] = {0}, in[2][5], indices[2], n = 0, done = 0, told = 0, code, i;
    MPI_Request receives[2], sends[2];
    MPI_Status statuses[2];
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    for (i = 0; i < 2; ++i) MPI_Recv_init(in[i], i == 1 ? 3 : 5, MPI_INT, 0, i, MPI_COMM_SELF, &receives[i]);
    MPI_Startall(2, receives);
    for (i = 0; i < 2; ++i) MPI_Isend(out, 5, MPI_INT, 0, i, MPI_COMM_SELF, &sends[i]);
    for (i = 0; i < 2; ++i) MPI_Wait(&sends[i], MPI_STATUS_IGNORE);
    while (done < 2) {
        code = MPI_Waitsome(2, receives, &n, indices, statuses);
        if (n == MPI_UNDEFINED) break;
        if (code == MPI_ERR_IN_STATUS)
            for (i = 0; i < n; ++i) told += indices[i] == 1 && statuses[i].MPI_ERROR != MPI_SUCCESS;
        if (code != MPI_SUCCESS && !told) {
            puts("BUG: MPI_Waitsome returns MPI_ERR_IN_STATUS, and no status has an error");
            break;
        }
        done += n;
    }
    if (told) puts("OK");
    else if (done >= 2) puts("N/A: nobody noticed");
    MPI_Finalize();
    return !told;
}
