/* Performance variables that can only be read.
 *
 * MPI-5.0 section 15.3.7.6: MPI_T_pvar_reset and MPI_T_pvar_write return MPI_T_ERR_PVAR_NO_WRITE if a variable cannot be written,
 * MPI_T_pvar_readreset MPI_T_ERR_PVAR_NO_ATOMIC if it cannot be read and reset atomically.
 * Expected: these errors.
 * Observed: Open MPI returns MPI_T_ERR_INVALID and MPI_T_ERR_INVALID_HANDLE.
 * Build and run: mpicc -o a openmpi_pvar_readonly.c && mpiexec -n 1 ./a
 */
// run: np=1 timeout=20
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    int provided, n, bug = 0, tried = 0;
    MPI_T_pvar_session session;
    MPI_Comm world = MPI_COMM_WORLD;
    MPI_Init(&argc, &argv);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_T_pvar_session_create(&session);
    MPI_T_pvar_get_num(&n);
    for (int i = 0; i < n && !bug; ++i) { // the first that is wrong is enough
        char name[256] = "";
        int length = sizeof name, verbosity, class, bind, readonly, continuous, atomic, count;
        MPI_T_pvar_handle handle;
        MPI_Datatype type;
        double value[512] = {0};
        if (MPI_T_pvar_get_info(i, name, &length, &verbosity, &class, &type, NULL, NULL, NULL, &bind, &readonly,
                                &continuous, &atomic) != MPI_SUCCESS)
            continue;
        if (!readonly || (bind != MPI_T_BIND_NO_OBJECT && bind != MPI_T_BIND_MPI_COMM)) continue;
        if (MPI_T_pvar_handle_alloc(session, i, bind == MPI_T_BIND_MPI_COMM ? &world : NULL, &handle, &count) !=
                MPI_SUCCESS ||
            count > 512)
            continue;
        int const reset = MPI_T_pvar_reset(session, handle);
        ++tried;
        if (reset != MPI_T_ERR_PVAR_NO_WRITE) {
            printf("MPI_T_pvar_reset of %s returns %d, not MPI_T_ERR_PVAR_NO_WRITE (%d)\n", name, reset,
                   MPI_T_ERR_PVAR_NO_WRITE);
            bug = 1;
        }
        int const write = MPI_T_pvar_write(session, handle, value);
        if (write != MPI_T_ERR_PVAR_NO_WRITE) {
            printf("MPI_T_pvar_write of %s returns %d, not MPI_T_ERR_PVAR_NO_WRITE (%d)\n", name, write,
                   MPI_T_ERR_PVAR_NO_WRITE);
            bug = 1;
        }
        int const both = MPI_T_pvar_readreset(session, handle, value);
        if (!atomic && both != MPI_T_ERR_PVAR_NO_ATOMIC) {
            printf("MPI_T_pvar_readreset of %s returns %d, not MPI_T_ERR_PVAR_NO_ATOMIC (%d)\n", name, both,
                   MPI_T_ERR_PVAR_NO_ATOMIC);
            bug = 1;
        }
        MPI_T_pvar_handle_free(session, &handle);
    }
    MPI_T_pvar_session_free(&session);
    MPI_T_finalize();
    MPI_Finalize();
    printf("%s (%d variables that can only be read)\n", bug ? "BUG" : "OK", tried);
    return bug;
}
