/* MPICH 4.0, Open MPI: an error handler of sessions, made and converted before MPI_Init, ends the process.
 *
 * MPI-5.0 section 11.4.1, table 9: MPI_SESSION_CREATE_ERRHANDLER and MPI_ERRHANDLER_F2C may be called at any time, before MPI is
 * initialized and after it is finalized.
 * Expected: the handle that was converted.
 * Observed: MPI_Session_create_errhandler (MPICH 4.0.2, 4.0.3) or MPI_Errhandler_f2c (Open MPI 5.0.11: "… was called before MPI_INIT was
 * invoked … Your MPI job will now abort", exit code 14) ends the process.
 * Build and run: mpicc -o a errhandler_early.c && mpiexec -n 1 ./a
 */
// run: np=1 timeout=20
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static char const* calling = "MPI_Session_create_errhandler";

static void at_end(void) {
    if (calling) printf("BUG: %s ends the process\n", calling);
    fflush(stdout);
}
static void on_session(MPI_Session* session, int* code, ...) { (void)session, (void)code; }

int main(int argc, char** argv) {
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    atexit(at_end);
    int const code = MPI_Session_create_errhandler(on_session, &handler);
    calling = "MPI_Errhandler_f2c";
    if (code == MPI_SUCCESS) {
        MPI_Errhandler const same = MPI_Errhandler_f2c(MPI_Errhandler_c2f(handler));
        puts(same == MPI_ERRHANDLER_NULL ? "BUG: the converted handle is MPI_ERRHANDLER_NULL" : "OK");
    } else puts("BUG: MPI_Session_create_errhandler fails");
    calling = NULL;
    MPI_Init(&argc, &argv);
    MPI_Finalize();
    return 0;
}
