/* A handle of a performance variable with a session that did not allocate it.
 *
 * MPI-5.0 section 15.3.7.4: for all routines that take both a handle and a session, MPI_T_ERR_INVALID_HANDLE is returned if the
 * handle is not associated with the session.
 * Expected: MPI_T_pvar_read returns MPI_T_ERR_INVALID_HANDLE.
 * Observed: Intel MPI reads the variable.
 * Build and run: mpicc -o a impi_pvar_other_session_read.c && mpiexec -n 1 ./a
 */
// run: np=1 timeout=20
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    MPI_T_pvar_session own, other;
    MPI_T_pvar_handle handle;
    MPI_Comm world = MPI_COMM_WORLD;
    int provided, n = 0, bind = 0, count = 0, found = 0;
    char value[4096];
    MPI_Init(&argc, &argv);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_T_pvar_get_num(&n);
    MPI_T_pvar_session_create(&own);
    MPI_T_pvar_session_create(&other);
    for (int i = 0; i < n && !found; ++i)
        if (MPI_T_pvar_get_info(i, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, &bind, NULL, NULL, NULL) ==
                MPI_SUCCESS &&
            (bind == MPI_T_BIND_NO_OBJECT || bind == MPI_T_BIND_MPI_COMM))
            found = MPI_T_pvar_handle_alloc(own, i, &world, &handle, &count) == MPI_SUCCESS && count <= 256;
    if (!found) {
        printf("N/A: there is no performance variable\n");
        MPI_Finalize();
        return 0;
    }
    int const code = MPI_T_pvar_read(other, handle, value);
    int const right = code == MPI_T_ERR_INVALID_HANDLE;
    printf("%s: MPI_T_pvar_read returns %d; MPI_T_ERR_INVALID_HANDLE is %d\n", right ? "OK" : "BUG", code,
           MPI_T_ERR_INVALID_HANDLE);
    fflush(stdout);
    MPI_Finalize();
    return !right;
}
