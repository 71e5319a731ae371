/* An error in a request calls another handler than that of its communicator.
 *
 * build: mpicc mpich_request_handler.c -o request       run: mpiexec -n 1 ./request
 * MPI-5.0 section 9.3: an error of an operation is raised on the communicator on which its request was initialized.
 * expected: MPI_Testany calls the handler of the duplicate.
 * observed: it calls that of MPI_COMM_SELF; MPI_Wait calls the right one (MPICH 5.0.2).
 */
// run: np=1 timeout=10
#include <mpi.h>
#include <stdio.h>

static char const* called = "no handler";
static void right(MPI_Comm* comm, int* code, ...) {
    (void)comm, (void)code;
    called = "that of the communicator";
}
static void wrong(MPI_Comm* comm, int* code, ...) {
    (void)comm, (void)code;
    called = "another one";
}

int main(int argc, char** argv) {
    int out[3] = {1, 2, 3}, in[3], flag = 0, index, broken;
    MPI_Comm comm;
    MPI_Errhandler of_comm, of_others;
    MPI_Request send, receive;
    MPI_Status status;
    MPI_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    MPI_Comm_create_errhandler(right, &of_comm);
    MPI_Comm_create_errhandler(wrong, &of_others);
    MPI_Comm_set_errhandler(comm, of_comm);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, of_others);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, of_others);
    MPI_Irecv(in, 1, MPI_INT, 0, 1, comm, &receive); // too short
    MPI_Isend(out, 3, MPI_INT, 0, 1, comm, &send);
    if (MPI_Testany(1, &receive, &index, &flag, &status) == MPI_SUCCESS && !flag)
        while (called[0] == 'n' && !flag) MPI_Testany(1, &receive, &index, &flag, &status);
    broken = called[0] == 'a';
    printf("%s: the handler that was called is %s\n", broken ? "BUG" : "OK", called);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return broken;
}
