/* MPI_Errhandler_f2c before MPI_Init ends the process.
 *
 * build: mpicc openmpi_errhandler_f2c_before_init.c -o before       run: mpiexec -n 1 ./before
 * MPI-5.0 section 11.4.1, table 9: MPI_Session_create_errhandler, MPI_Errhandler_c2f and MPI_Errhandler_f2c may be called
 * at any time.
 * expected: the handle of the error handler.
 * observed: the process ends (Open MPI 5.0.11).
 */
// run: np=1 timeout=10
#include <mpi.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static void handle(MPI_Session* session, int* code, ...) {
    (void)session;
    (void)code;
}

/* Whether a process can do this before MPI_Init. */
static int works(int converted) {
    int status = -1;
    pid_t const child = fork();
    if (child == 0) {
        MPI_Errhandler handler = MPI_ERRHANDLER_NULL, same;
        MPI_Session_create_errhandler(handle, &handler);
        same = converted ? MPI_Errhandler_f2c(MPI_Errhandler_c2f(handler)) : handler;
        _exit(same == handler ? 7 : 1);
    }
    waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 7;
}

int main(int argc, char** argv) {
    int const made = works(0), broken = made && !works(1);
    puts(broken  ? "BUG: MPI_Errhandler_f2c before MPI_Init gives another handle or ends the process"
         : !made ? "N/A: there can be no error handler before MPI_Init"
                 : "OK");
    MPI_Init(&argc, &argv);
    MPI_Finalize();
    return broken;
}
