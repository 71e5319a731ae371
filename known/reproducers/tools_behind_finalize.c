/* MPICH 5, Open MPI 4.1: a program that uses the tools interface behind MPI_Finalize ends with a signal or an assertion.
 *
 * build: mpicc tools_behind_finalize.c -o tools_behind_finalize        run: mpiexec -n 1 ./tools_behind_finalize
 * MPI-5.0 section 15.3: the routines of this interface can be called before MPI is initialized and after MPI is finalized.
 * expected: the program ends.
 * observed: when main returns "Assertion failed in file … mpir_pmi.c" (MPICH), SIGABRT or a hang (Open MPI).
 */
// run: np=1 timeout=10
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static void ended(void) { /* behind all that the library does when the program ends */
    printf("OK\n");
    fflush(stdout);
}

int main(int argc, char** argv) {
    int provided;
    atexit(ended);
    MPI_Init(&argc, &argv);
    MPI_Finalize();
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_T_finalize();
    return 0;
}
