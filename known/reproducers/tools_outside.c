/* The tools interface, opened and closed before MPI_Init and again after MPI_Finalize: the process ends with a signal.
 *
 * build: mpicc tools_outside.c -o outside       run: mpiexec -n 1 ./outside
 * MPI-5.0 sections 15.3, 15.3.4: the routines of this interface can be called before MPI is initialized and after it is
 *   finalized, any number of times.
 * expected: the program ends.
 * observed: SIGSEGV in MPI_Init (MPICH 4.0, Open MPI 5.0.11), SIGABRT in the last MPI_T_finalize (Open MPI 4.1.4), an
 *   assertion or SIGABRT when main returns (MPICH 5.0.2, Open MPI 4.1.8).
 */
// run: np=1 timeout=10
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static void ended(void) { // after all that the library does when the program ends
    puts("OK");
    fflush(stdout);
}

int main(int argc, char** argv) {
    int provided;
    atexit(ended);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_T_finalize();
    MPI_Init(&argc, &argv);
    MPI_Finalize();
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_T_finalize();
    return 0;
}
