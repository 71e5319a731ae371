/* MPICH up to 4.3, Intel MPI: MPI_Session_init does not attach the error handler that it is given.
 *
 * build: mpicc session_handler.c -o session_handler        run: mpiexec -n 1 ./session_handler
 * MPI-5.0 section 9.3: an error handler can be attached to a session by the errhandler argument of MPI_Session_init; section
 *   9.3.4: MPI_Session_get_errhandler retrieves the handler that is attached.
 * expected: the session has MPI_ERRORS_RETURN, with which it was made.
 * observed: it has MPI_ERRORS_ARE_FATAL. So it is with other handlers; after MPI_Session_set_errhandler it has what that was
 *   given.
 */
// run: np=1 timeout=20
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    MPI_Errhandler got = MPI_ERRHANDLER_NULL;
    MPI_Session session;
    int wrong;
    MPI_Init(&argc, &argv);
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    MPI_Session_get_errhandler(session, &got);
    wrong = got != MPI_ERRORS_RETURN;
    printf("%s: the session has %s\n", wrong ? "BUG" : "OK",
           !wrong                        ? "MPI_ERRORS_RETURN"
           : got == MPI_ERRORS_ARE_FATAL ? "MPI_ERRORS_ARE_FATAL in place of MPI_ERRORS_RETURN"
                                         : "another handler than MPI_ERRORS_RETURN");
    MPI_Session_finalize(&session);
    MPI_Finalize();
    return wrong;
}
