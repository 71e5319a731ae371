/* Intel MPI: an error that MPI_Wait finds calls the handler of another communicator than that of the request.
 *
 * build: mpicc intel_wait_handler.c -o wait_handler       run: mpiexec -n 1 ./wait_handler
 * MPI-5.0 section 9.3: an error of an operation is raised on the communicator on which its request was initialized.
 * expected: for a receive that is too short MPI_Wait calls the handler of the duplicate.
 * observed: it calls that of MPI_COMM_WORLD.
 */
// run: np=1 timeout=10
#include <mpi.h>
#include <stdio.h>

static int of_comm, of_others;
static void right(MPI_Comm* comm, int* code, ...) { ++of_comm; }
static void wrong(MPI_Comm* comm, int* code, ...) { ++of_others; }

int main(int argc, char** argv) {
    int out[3] = {1, 2, 3}, in[3];
    MPI_Comm comm;
    MPI_Errhandler handler, others;
    MPI_Request send, receive;
    MPI_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    MPI_Comm_create_errhandler(right, &handler);
    MPI_Comm_create_errhandler(wrong, &others);
    MPI_Comm_set_errhandler(comm, handler);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, others);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, others);
    MPI_Irecv(in, 1, MPI_INT, 0, 1, comm, &receive); // too short
    MPI_Isend(out, 3, MPI_INT, 0, 1, comm, &send);
    MPI_Wait(&receive, MPI_STATUS_IGNORE);
    printf("%s: its handler was called %d times, others %d times\n", of_others ? "BUG" : "OK", of_comm, of_others);
    fflush(stdout);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return of_others != 0;
}
