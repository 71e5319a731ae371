/* The flag continuous of a performance variable.
 *
 * MPI-5.0 section 15.3.7.2: continuous is set to zero if the variable can be started and stopped by the user. It is set to one if
 * the variable is always active and cannot be controlled by the user.
 * Expected: 0 or 1.
 * Observed: Intel MPI sets it to 2.
 * Build and run: mpicc -o a impi_pvar_continuous.c && mpiexec -n 1 ./a
 */
// run: np=1 timeout=20
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    int provided, n = 0, continuous, wrong = 0;
    MPI_Init(&argc, &argv);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_T_pvar_get_num(&n);
    for (int i = 0; i < n; ++i) {
        continuous = -1;
        if (MPI_T_pvar_get_info(i, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, &continuous, NULL) ==
                MPI_SUCCESS &&
            continuous != 0 && continuous != 1 && !wrong++)
            printf("BUG: performance variable %d has the flag continuous %d\n", i, continuous);
    }
    if (n == 0) puts("N/A: there is no performance variable");
    else if (!wrong) puts("OK");
    fflush(stdout);
    MPI_Finalize();
    return wrong != 0;
}
