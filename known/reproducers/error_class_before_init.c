/* MPI_Add_error_class before MPI_Init ends the process.
 *
 * build: mpicc error_class_before_init.c -o before       run: mpiexec -n 1 ./before
 * MPI-5.0 section 11.4.1, table 9: MPI_Add_error_class and its kin may be called at any time, before MPI_Init, too.
 *   (In MPI-3.1 they were not in the table, section 8.7.1.)
 * expected: MPI_SUCCESS, a class above MPI_ERR_LASTCODE.
 * observed: the process ends: "Attempting to use an MPI routine before initializing" (MPICH, Open MPI).
 */
// run: np=1 timeout=10
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int back = 0;
static void at_exit(void) {
    if (!back) puts("BUG: MPI_Add_error_class before MPI_Init ended the process"), fflush(stdout);
}

int main(int argc, char** argv) {
    int error_class = -7, code, broken, version, subversion;
    MPI_Get_version(&version, &subversion);
    if (version < 4) {
        puts("N/A: a library of MPI-3.1");
        return 0;
    }
    atexit(at_exit);
    code = MPI_Add_error_class(&error_class);
    back = 1;
    broken = code != MPI_SUCCESS || error_class <= MPI_ERR_LASTCODE;
    printf("%s: MPI_Add_error_class returned %d and the class %d\n", broken ? "BUG" : "OK", code, error_class);
    MPI_Init(&argc, &argv);
    MPI_Finalize();
    return broken;
}
