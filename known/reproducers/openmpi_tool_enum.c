/* Enumerations of control variables that are not of MPI_INT.
 *
 * MPI-5.0 section 15.3.6.1: if the variable is of type MPI_INT, an enumeration can be returned. Otherwise, enumtype is set to
 * MPI_T_ENUM_NULL.
 * Expected: MPI_T_ENUM_NULL for a variable of another datatype.
 * Observed: Open MPI returns an enumeration for variables of MPI_C_BOOL and others.
 * Build and run: mpicc -o a openmpi_tool_enum.c && mpiexec -n 1 ./a
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
        MPI_T_enum values = MPI_T_ENUM_NULL;
        if (MPI_T_cvar_get_info(i, NULL, NULL, NULL, &type, &values, NULL, NULL, NULL, NULL) == MPI_SUCCESS &&
            type != MPI_INT && values != MPI_T_ENUM_NULL)
            ++wrong;
    }
    if (wrong) printf("BUG: %d control variables have an enumeration, and not the datatype MPI_INT\n", wrong);
    else puts("OK");
    fflush(stdout);
    MPI_Finalize();
    return wrong != 0;
}
