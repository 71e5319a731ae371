/* Datatypes of control variables.
 *
 * MPI-5.0 section 15.3.5: table 19 lists all datatypes that the tools interface can return to represent its variables.
 * Expected: a datatype of the table.
 * Observed: Open MPI returns MPI_C_BOOL.
 * Build and run: mpicc -o a openmpi_tool_types.c && mpiexec -n 1 ./a
 */
// run: np=1 timeout=20
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    int provided, n = 0, wrong = 0;
    MPI_Init(&argc, &argv);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_T_cvar_get_num(&n);
    for (int i = 0; i < n; ++i) {
        MPI_Datatype type = MPI_INT;
        if (MPI_T_cvar_get_info(i, NULL, NULL, NULL, &type, NULL, NULL, NULL, NULL, NULL) == MPI_SUCCESS &&
            type == MPI_C_BOOL)
            ++wrong;
    }
    if (wrong) printf("BUG: %d control variables have the datatype MPI_C_BOOL\n", wrong);
    else puts("OK");
    fflush(stdout);
    MPI_Finalize();
    return wrong != 0;
}
