/* A process that has finalized all MPI that it had cannot initialize it again in the other model.
 *
 * build: mpicc initialized_again.c -o initialized_again        run: mpiexec -n 2 ./initialized_again
 * MPI-5.0 section 11.1: an application can employ both the World Model and the Sessions Model; section 11.3: in the Sessions Model,
 *   MPI resources can be allocated and freed multiple times in an MPI process.
 * expected: OK after a session, MPI_Init, MPI_Finalize, and another session.
 * observed: MPI_Init after the session ends the process: SIGSEGV (Open MPI 5.0.11); "PMI_Get_appnum returned -1" (Intel MPI 2021.19.0).
 *   So does MPI_Session_init after MPI_Finalize, also with MPICH 4.3.2.
 */
// run: np=2 timeout=20
#include <mpi.h>
#include <stdio.h>

static void say(char const* what) {
    printf("%s\n", what);
    fflush(stdout);
}

int main(int argc, char** argv) {
#if MPI_VERSION < 4 && !defined(MPI_SESSION_NULL)
    printf("N/A: there are no sessions\n");
    return (void)argc, (void)argv, 0;
#else
    MPI_Session session;
    int rank;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Session_finalize(&session);
    say("a session is over, MPI_Init comes");
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Finalize();
    say("the world is over, MPI_Session_init comes");
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Session_finalize(&session);
    if (rank == 0) say("OK");
    return 0;
#endif
}
