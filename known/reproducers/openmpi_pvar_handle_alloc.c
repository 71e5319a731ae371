/* Handles of performance variables that are bound to nothing or to a communicator.
 *
 * MPI-5.0 sections 15.3, 15.3.7.4: MPI_T_pvar_handle_alloc binds a variable to an object; calls of the tools interface are not fatal.
 * Expected: it returns, with a handle or an error.
 * Observed: Debian's Open MPI 4.1.4 ends with SIGSEGV for the variables of PSM2 where there is no such network.
 * Build and run: mpicc -o a openmpi_pvar_handle_alloc.c && mpiexec -n 1 ./a
 */
// run: np=1 timeout=20
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static char name[256];

static void on_signal(int number) {
    printf("BUG: signal %d in MPI_T_pvar_handle_alloc of %s\n", number, name);
    fflush(stdout);
    _Exit(1);
}

int main(int argc, char** argv) {
    int provided, n;
    MPI_T_pvar_session session;
    MPI_Comm world = MPI_COMM_WORLD;
    MPI_Init(&argc, &argv);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_T_pvar_session_create(&session);
    MPI_T_pvar_get_num(&n);
    signal(SIGSEGV, on_signal);
    for (int i = 0; i < n; ++i) {
        int length = sizeof name, verbosity, class, bind, readonly, continuous, atomic, count;
        MPI_T_pvar_handle handle;
        MPI_Datatype type;
        if (MPI_T_pvar_get_info(i, name, &length, &verbosity, &class, &type, NULL, NULL, NULL, &bind, &readonly,
                                &continuous, &atomic) != MPI_SUCCESS ||
            (bind != MPI_T_BIND_NO_OBJECT && bind != MPI_T_BIND_MPI_COMM))
            continue;
        if (MPI_T_pvar_handle_alloc(session, i, bind == MPI_T_BIND_MPI_COMM ? &world : NULL, &handle, &count) ==
            MPI_SUCCESS)
            MPI_T_pvar_handle_free(session, &handle);
    }
    puts("OK");
    fflush(stdout);
    MPI_T_pvar_session_free(&session);
    MPI_T_finalize();
    MPI_Finalize();
    return 0;
}
