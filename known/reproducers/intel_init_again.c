/* MPI_Init behind MPI_Finalize: the error ends in a segmentation fault instead of an error handler.
 *
 * build: mpicc intel_init_again.c -o again       run: mpiexec -n 3 ./again
 * MPI-5.0 sections 9.3, 11.4.1: an error that belongs to no object, also behind MPI_Finalize, raises the initial error handler,
 *   which aborts.
 * expected: the call returns an error, or the process is aborted.
 * observed: SIGSEGV in MPIR_call_errhandler_noret_err (Intel MPI 2021.19.0 at 2 ranks and more).
 */
// run: np=3 timeout=10
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char** argv) {
    int how = 0;
    pid_t const process = fork(); // whose end can be looked at
    if (process == 0) {
        MPI_Init(&argc, &argv);
        MPI_Finalize();
        MPI_Init(&argc, &argv);
        _exit(0);
    }
    waitpid(process, &how, 0);
    puts(WIFSIGNALED(how) && WTERMSIG(how) == SIGSEGV ? "BUG: segmentation fault in MPI_Init" : "OK");
    return 0;
}
