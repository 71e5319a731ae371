/* MPI_T_finalize that is called more often than MPI_T_init_thread.
 *
 * MPI-5.0 section 15.3.4: it may be called as often as MPI_T_init_thread; calling it more times returns a corresponding return
 * code. Section 15.3: unsuccessful calls to the tools interface are not fatal.
 * Expected: an error code, and the interface can be opened again.
 * Observed: MPICH 4.0 and 4.1 crash; MPICH 5.0.2 returns MPI_SUCCESS.
 * Build and run: mpicc -o a mpich_tool_finalize_often.c && mpiexec -n 1 ./a
 */
// run: np=1 timeout=20
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static int returned = 0;
static void at_end(void) {
    if (!returned) printf("BUG: MPI_T_finalize ends the process\n");
    fflush(stdout);
}
static void at_signal(int number) {
    printf("BUG: signal %d in MPI_T_finalize\n", number);
    fflush(stdout);
    _Exit(1);
}

int main(void) {
    int provided, n = 0;
    atexit(at_end);
    MPI_Init(NULL, NULL);
    signal(SIGABRT, at_signal);
    signal(SIGSEGV, at_signal);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_T_finalize();
    int const code = MPI_T_finalize();
    int const again = MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    int const number = MPI_T_cvar_get_num(&n);
    returned = 1;
    int const right = code != MPI_SUCCESS && again == MPI_SUCCESS && number == MPI_SUCCESS;
    printf("%s: MPI_T_finalize returns %d, MPI_T_init_thread %d, MPI_T_cvar_get_num %d\n", right ? "OK" : "BUG", code,
           again, number);
    fflush(stdout);
    if (again == MPI_SUCCESS) MPI_T_finalize();
    MPI_Finalize();
    return right ? 0 : 1;
}
