/* An error of MPI_Mrecv calls another handler than that of the communicator of its probe.
 *
 * build: mpicc mrecv_handler.c -o mrecv_handler       run: mpiexec -n 1 ./mrecv_handler
 * MPI-5.0 section 3.8.3: all errors of a matched receive are handled according to the error handler set for the communicator used in the
 * matching probe call that produced the message handle.
 * expected: for a receive that is too short MPI_Mrecv calls the handler of the duplicate.
 * observed: it calls that of MPI_COMM_WORLD (MPICH 5.0.2, Intel MPI 2021.19.0).
 */
// run: np=1 timeout=10
#include <mpi.h>
#include <stdio.h>

static int of_comm, of_others;
static void right(MPI_Comm* comm, int* code, ...) {
    (void)comm, (void)code;
    ++of_comm;
}
static void wrong(MPI_Comm* comm, int* code, ...) {
    (void)comm, (void)code;
    ++of_others;
}

int main(int argc, char** argv) {
    int out[3] = {1, 2, 3}, in[3];
    MPI_Comm comm;
    MPI_Errhandler handler, others;
    MPI_Request send;
    MPI_Message message;
    MPI_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    MPI_Comm_create_errhandler(right, &handler);
    MPI_Comm_create_errhandler(wrong, &others);
    MPI_Comm_set_errhandler(comm, handler);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, others);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, others);
    MPI_Isend(out, 3, MPI_INT, 0, 1, comm, &send);
    MPI_Mprobe(0, 1, comm, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(in, 1, MPI_INT, &message, MPI_STATUS_IGNORE); // too short
    printf("%s: its handler was called %d times, others %d times\n", of_others ? "BUG" : "OK", of_comm, of_others);
    fflush(stdout);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return of_others != 0;
}
