/* MPI_Isendrecv and MPI_Isendrecv_replace do not say that the message was too long.
 *
 * build: mpicc isendrecv_truncated.c -o isendrecv_truncated     run: mpiexec -n 1 ./isendrecv_truncated
 * MPI-5.0 section 3.2.4: an overflow error occurs if all incoming data does not fit into the receive buffer; section 9.4:
 *   MPI_SUCCESS if and only if what is specified was done.
 * expected: an error from MPI_Wait, as with MPI_Irecv.
 * observed: MPI_SUCCESS, and two of three ints are gone: with MPI_Isendrecv (MPICH 5.0.2, Open MPI 5.0.11), and when nothing is sent
 *   or the buffer is replaced (Open MPI).
 */
// run: np=1 timeout=20
#include <mpi.h>
#include <stdio.h>

static int raised;
static void note(MPI_Comm* comm, int* code, ...) { ++raised; }

int main(int argc, char** argv) {
    char const* const calls[3] = {"MPI_Isendrecv", "MPI_Isendrecv that sends nothing", "MPI_Isendrecv_replace"};
    int out[3] = {1, 2, 3}, in[3] = {-1, -1, -1}, broken = 0;
    MPI_Errhandler handler;
    MPI_Init(&argc, &argv);
    MPI_Comm_create_errhandler(note, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
    for (int i = 0; i < 3; ++i) {
        MPI_Comm const comm = MPI_COMM_WORLD;
        MPI_Request sent = MPI_REQUEST_NULL, received;
        int code;
        raised = 0;
        if (i > 0) MPI_Isend(out, 3, MPI_INT, 0, 1, comm, &sent);
        if (i < 2)
            code = MPI_Isendrecv(out, 3, MPI_INT, i == 0 ? 0 : MPI_PROC_NULL, 1, in, 1, MPI_INT, 0, 1, comm, &received);
        else code = MPI_Isendrecv_replace(in, 1, MPI_INT, MPI_PROC_NULL, 1, 0, 1, comm, &received);
        if (code == MPI_SUCCESS && !raised) code = MPI_Wait(&received, MPI_STATUS_IGNORE);
        if (code == MPI_SUCCESS && !raised) {
            printf("BUG: %s receives three ints where one fits, without an error\n", calls[i]);
            broken = 1;
        }
        MPI_Wait(&sent, MPI_STATUS_IGNORE);
    }
    if (!broken) puts("OK");
    MPI_Errhandler_free(&handler);
    MPI_Finalize();
    return broken;
}
