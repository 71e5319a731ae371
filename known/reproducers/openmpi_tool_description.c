/* Control variables without description.
 *
 * MPI-5.0 section 15.3.6.1: if no description is returned, the first character for desc must be set to the null character and
 * desc_len must be set to one. Section 15.3.9.1 says the same of categories.
 * Expected: the length 1.
 * Observed: Open MPI sets it to 0.
 * Build and run: mpicc -o a openmpi_tool_description.c && mpiexec -n 1 ./a
 */
// run: np=1 timeout=20
#include <mpi.h>
#include <stdio.h>

static char text[65536];

int main(int argc, char** argv) {
    int provided, n = 0, wrong = 0;
    MPI_Init(&argc, &argv);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_T_cvar_get_num(&n);
    for (int i = 0; i < n; ++i) {
        int length = sizeof text;
        text[0] = 0;
        if (MPI_T_cvar_get_info(i, NULL, NULL, NULL, NULL, NULL, text, &length, NULL, NULL) == MPI_SUCCESS &&
            !text[0] && length != 1 && !wrong++)
            printf("BUG: control variable %d has no description, whose length is %d\n", i, length);
    }
    if (!wrong) puts("OK");
    fflush(stdout);
    MPI_Finalize();
    return wrong != 0;
}
