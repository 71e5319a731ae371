/* MPI_Add_error_class before MPI_Init or after MPI_Finalize ends the process.
 *
 * build: mpicc error_class_before_init.c -o before       run: mpiexec -n 1 ./before
 * MPI-5.0 section 11.4.1, table 9: MPI_Add_error_class and its kin may be called at any time, before MPI_Init and
 *   after MPI_Finalize, too.
 *   (In MPI-3.1 they were not in the table, section 8.7.1: it came with sessions.)
 * expected: MPI_SUCCESS, a class above MPI_ERR_LASTCODE (section 9.5.1: no text can be added to one that is not).
 * observed: the process ends: "Attempting to use an MPI routine before initializing" (MPICH, Open MPI).
 */
// run: np=1 timeout=10
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int back = 0;
static char const* when = "before MPI_Init";
static void at_exit(void) {
    if (!back) printf("BUG: MPI_Add_error_class %s ended the process\n", when), fflush(stdout);
}

int main(int argc, char** argv) {
    int error_class = -7, code, broken;
#ifndef MPI_SESSION_NULL
    puts("N/A: a library without sessions");
    return 0;
#endif
    atexit(at_exit);
    code = MPI_Add_error_class(&error_class);
    back = 1;
    broken = code != MPI_SUCCESS || error_class <= MPI_ERR_LASTCODE;
    if (broken) printf("BUG: MPI_Add_error_class returned %d and the class %d %s\n", code, error_class, when);
    MPI_Init(&argc, &argv);
    MPI_Finalize();
    back = 0;
    when = "after MPI_Finalize";
    code = MPI_Add_error_class(&error_class);
    back = 1;
    if (code != MPI_SUCCESS || error_class <= MPI_ERR_LASTCODE)
        broken = printf("BUG: MPI_Add_error_class returned %d and the class %d %s\n", code, error_class, when) > 0;
    if (!broken) puts("OK");
    return broken;
}
