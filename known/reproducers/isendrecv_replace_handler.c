/* MPICH, Intel MPI: an error of MPI_Isendrecv_replace goes to another communicator's error handler.
 *
 * MPI-5.0 section 9.3: an error of a request calls the error handler of the communicator that the request belongs to.
 * Expected: MPI_Wait calls the handler of the communicator, once.
 * Observed: MPI_Wait calls the handler of MPI_COMM_SELF (MPICH 4.0.3, Intel MPI: that of MPI_COMM_WORLD), which may end the process.
 * Build and run: mpicc -o a isendrecv_replace_handler.c && mpiexec -n 1 ./a
 */
// run: np=1 timeout=20
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int own, others;

static void on_own(MPI_Comm* comm, int* code, ...) {
    (void)comm, (void)code;
    ++own;
}
static void on_another(MPI_Comm* comm, int* code, ...) {
    (void)comm, (void)code;
    ++others;
}

int main(int argc, char** argv) {
    int out[3] = {1, 2, 3}, in[3] = {-1, -1, -1};
    MPI_Comm comm;
    MPI_Errhandler of_own, of_others;
    MPI_Request send, receive;
    MPI_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    MPI_Comm_create_errhandler(on_own, &of_own);
    MPI_Comm_create_errhandler(on_another, &of_others);
    MPI_Comm_set_errhandler(comm, of_own);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, of_others);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, of_others);
    MPI_Isend(out, 3, MPI_INT, 0, 1, comm, &send);
    if (MPI_Isendrecv_replace(in, 1, MPI_INT, MPI_PROC_NULL, 1, 0, 1, comm, &receive) == MPI_SUCCESS)
        MPI_Wait(&receive, MPI_STATUS_IGNORE);
    if (others > 0) {
        printf("BUG: a message is too long: the handler of its communicator was called %d times, others %d times\n",
               own, others);
        fflush(stdout);
        _Exit(1); // the library is not tidied up after the error
    }
    puts("OK");
    fflush(stdout);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
