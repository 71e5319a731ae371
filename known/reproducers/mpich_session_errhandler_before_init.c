/* MPICH 4.0: MPI_Session_create_errhandler before MPI_Init ends the process.
 *
 * build: mpicc mpich_session_errhandler_before_init.c -o before_init        run: mpiexec -n 1 ./before_init
 * MPI-5.0 section 11.4.1: it can be called at any time, including prior to MPI initialization.
 * expected: MPI_SUCCESS.
 * observed: "Attempting to use an MPI routine before initializing or after finalizing MPICH".
 */
// run: np=1 timeout=10
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int done = 0;

static void handler(MPI_Session* session, int* code, ...) {
    (void)session;
    (void)code;
}

static void ended(void) {
    if (done) return;
    printf("BUG: MPI_Session_create_errhandler before MPI_Init ended the process\n");
    fflush(stdout);
    _exit(1);
}

int main(int argc, char** argv) {
    MPI_Errhandler made = MPI_ERRHANDLER_NULL;
    atexit(ended);
    int const code = MPI_Session_create_errhandler(handler, &made);
    done = 1;
    printf("%s: returned %d\n", code == MPI_SUCCESS ? "OK" : "BUG", code);
    fflush(stdout);
    MPI_Init(&argc, &argv);
    MPI_Finalize();
    return code != MPI_SUCCESS;
}
