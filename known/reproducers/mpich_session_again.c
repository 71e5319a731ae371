/* MPICH 4.0: a second session behind the end of the first one crashes.
 *
 * build: mpicc mpich_session_again.c -o mpich_session_again        run: mpiexec -n 1 ./mpich_session_again
 * MPI-5.0 section 11.3: MPI can be initialized and finalized by sessions multiple times.
 * expected: both sessions begin and end.
 * observed: SIGSEGV in the second MPI_Session_init, also in an MPI_Init in its place.
 */
// run: np=1 timeout=10
#include <mpi.h>
#include <stdio.h>

int main(void) {
    MPI_Session session;
    int code = MPI_SUCCESS;
    for (int i = 0; i < 2 && code == MPI_SUCCESS; ++i) {
        code = MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
        if (code == MPI_SUCCESS) code = MPI_Session_finalize(&session);
    }
    printf("%s: returned %d\n", code == MPI_SUCCESS ? "OK" : "BUG", code);
    return code != MPI_SUCCESS;
}
