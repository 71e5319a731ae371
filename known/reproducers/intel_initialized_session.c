/* Intel MPI: MPI_Initialized gives true in a session, without MPI_Init.
 *
 * build: mpicc intel_initialized_session.c -o initialized_session           run: mpiexec -n 1 ./initialized_session
 * MPI-5.0 section 11.2.3: MPI_Initialized tells whether MPI_Init or MPI_Init_thread have been called: it is about the World
 * Model only.
 * expected: false, in a session and after it.
 * observed: true.
 */
// run: np=1 timeout=10
#include <mpi.h>
#include <stdio.h>

int main(void) {
    int within = 0, behind = 0;
    MPI_Session session;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Initialized(&within);
    MPI_Session_finalize(&session);
    MPI_Initialized(&behind);
    printf("%s: in a session %d, after it %d, expected 0 and 0\n", within || behind ? "BUG" : "OK", within, behind);
    return within || behind;
}
