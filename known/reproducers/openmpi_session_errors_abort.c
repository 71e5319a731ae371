/* Open MPI: MPI_ERRORS_ABORT as the error handler of a session crashes where an error is raised.
 *
 * build: mpicc openmpi_session_errors_abort.c -o session_errors_abort    run: mpiexec -n 1 ./session_errors_abort
 * MPI-5.0 section 9.3: on a session, MPI_ERRORS_ABORT aborts the local process only, in a manner similar to MPI_Abort.
 * expected: the process ends in order.
 * observed: a segmentation fault in MPI_Session_call_errhandler (Open MPI 5.0.11).
 */
// run: np=1 timeout=10
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static void crashed(int number) {
    (void)number;
    puts("BUG: MPI_Session_call_errhandler crashes");
    fflush(stdout);
    _Exit(1);
}
static void ended(void) {
    puts("OK");
    fflush(stdout);
    _Exit(0);
}

int main(void) {
    MPI_Session session;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ABORT, &session);
    signal(SIGSEGV, crashed);
    signal(SIGBUS, crashed);
    atexit(ended);
    MPI_Session_call_errhandler(session, MPI_ERR_OTHER);
    puts("BUG: MPI_ERRORS_ABORT returns");
    fflush(stdout);
    _Exit(1);
}
