/* Open MPI: MPI_Win_create on a communicator of one process fails.
 *
 * build: mpicc openmpi_win_create_single.c -o win_create_single     run: mpiexec -n 1 ./win_create_single  (or more ranks)
 * MPI-5.0 sections 12.2.1, 12.2.4: MPI_Win_create and MPI_Win_create_dynamic are collective over the group of any
 *   intracommunicator.
 * expected: a window on MPI_COMM_SELF.
 * observed: an error is returned (Debian's Open MPI 4.1.4).
 */
// run: np=1 timeout=20
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    int memory = 0, code;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    code = MPI_Win_create(&memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_SELF, &win);
    if (code == MPI_SUCCESS) MPI_Win_free(&win);
    if (code == MPI_SUCCESS) code = MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_SELF, &win);
    if (code == MPI_SUCCESS) {
        puts("OK");
        MPI_Win_free(&win);
    } else {
        char text[MPI_MAX_ERROR_STRING] = "";
        int length;
        MPI_Error_string(code, text, &length);
        printf("BUG: MPI_Win_create or MPI_Win_create_dynamic returns %s\n", text);
    }
    MPI_Finalize();
    return code != MPI_SUCCESS;
}
