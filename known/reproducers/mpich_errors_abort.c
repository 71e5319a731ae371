/* MPICH 4.0: MPI_ERRORS_ABORT as an error handler.
 *
 * build: mpicc mpich_errors_abort.c -o errors_abort        run: mpiexec -n 1 ./errors_abort
 * MPI-5.0 section 9.3: MPI_ERRORS_ABORT is a predefined error handler; MPI_Comm_set_errhandler attaches it.
 * expected: MPI_Comm_set_errhandler returns MPI_SUCCESS, and MPI_Comm_get_errhandler gives it back.
 * observed: an error that ends the process (MPICH 4.0.2).
 */
// run: np=1 timeout=10
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int done = 0;
static void at_exit(void) {
    if (!done) puts("BUG: MPI_Comm_set_errhandler does not take MPI_ERRORS_ABORT"), fflush(stdout);
}

int main(int argc, char** argv) {
    MPI_Errhandler got;
    MPI_Init(&argc, &argv);
    atexit(at_exit);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ABORT);
    MPI_Comm_get_errhandler(MPI_COMM_SELF, &got);
    done = 1;
    puts(got == MPI_ERRORS_ABORT ? "OK" : "BUG: MPI_Comm_get_errhandler gives another handler");
    MPI_Finalize();
    return got != MPI_ERRORS_ABORT;
}
