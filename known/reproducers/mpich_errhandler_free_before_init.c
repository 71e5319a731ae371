/* MPI_Errhandler_free before MPI_Init ends the process.
 *
 * build: mpicc mpich_errhandler_free_before_init.c -o before       run: mpiexec -n 1 ./before
 * MPI-5.0 section 11.4.1, table 9: MPI_Session_create_errhandler and MPI_Errhandler_free may be called at any time.
 * expected: MPI_SUCCESS, and the handle becomes MPI_ERRHANDLER_NULL.
 * observed: "Attempting to use an MPI routine before initializing" (MPICH 4.3.2, 5.0.2).
 */
// run: np=1 timeout=10
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int back = 0;
static void at_exit(void) {
    if (!back) puts("BUG: MPI_Errhandler_free before MPI_Init ended the process"), fflush(stdout);
}
static void handle(MPI_Session* session, int* code, ...) {
    (void)session;
    (void)code;
}

int main(int argc, char** argv) {
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    int created, freed, broken;
    atexit(at_exit);
    created = MPI_Session_create_errhandler(handle, &handler);
    freed = MPI_Errhandler_free(&handler);
    back = 1;
    broken = created != MPI_SUCCESS || freed != MPI_SUCCESS || handler != MPI_ERRHANDLER_NULL;
    printf("%s: created with %d, freed with %d\n", broken ? "BUG" : "OK", created, freed);
    MPI_Init(&argc, &argv);
    MPI_Finalize();
    return broken;
}
