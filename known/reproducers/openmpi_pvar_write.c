/* The value that MPI_T_pvar_read gives, written back to a variable that may be written.
 *
 * MPI-5.0 section 15.3.7.6: MPI_T_pvar_write writes the variable, or returns an error.
 * Expected: it returns.
 * Observed: Open MPI ends with SIGSEGV for the counters of one-sided communication that are bound to a window.
 * Build and run: mpicc -o a openmpi_pvar_write.c && mpiexec -n 1 ./a
 */
// run: np=1 timeout=20
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static void on_signal(int number) {
    (void)number;
    (void)!write(1, "BUG: SIGSEGV in MPI_T_pvar_write\n", 33);
    _exit(1);
}

int main(int argc, char** argv) {
    int provided, n, tried = 0, *memory;
    MPI_T_pvar_session session;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    MPI_T_pvar_session_create(&session);
    MPI_T_pvar_get_num(&n);
    for (int i = 0; i < n; ++i) {
        char name[256] = "";
        int length = sizeof name, verbosity, class, bind, readonly, continuous, atomic, count;
        MPI_T_pvar_handle handle;
        MPI_Datatype type;
        double value[512] = {0};
        if (MPI_T_pvar_get_info(i, name, &length, &verbosity, &class, &type, NULL, NULL, NULL, &bind, &readonly,
                                &continuous, &atomic) != MPI_SUCCESS)
            continue;
        if (readonly || bind != MPI_T_BIND_MPI_WIN) continue;
        if (MPI_T_pvar_handle_alloc(session, i, &win, &handle, &count) != MPI_SUCCESS || count > 512) continue;
        int const read = MPI_T_pvar_read(session, handle, value);
        printf("%s: MPI_T_pvar_read returns %d, the value is %llu\n", name, read, *(unsigned long long*)value);
        fflush(stdout);
        signal(SIGSEGV, on_signal);
        MPI_T_pvar_write(session, handle, value);
        ++tried;
        MPI_T_pvar_handle_free(session, &handle);
    }
    MPI_T_pvar_session_free(&session);
    MPI_T_finalize();
    MPI_Win_free(&win);
    MPI_Finalize();
    printf("OK (%d variables of a window that may be written)\n", tried);
    return 0;
}
