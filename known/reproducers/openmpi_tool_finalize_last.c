/* Open MPI: MPI_T_finalize after MPI_Finalize.
 *
 * build: mpicc openmpi_tool_finalize_last.c -o tool_finalize_last     run: mpiexec -n 1 ./tool_finalize_last
 * MPI-5.0 section 15.3.4: the tools interface may be opened before MPI_Init and closed after MPI_Finalize.
 * expected: MPI_T_finalize returns.
 * observed: a segmentation fault (Open MPI 4.1.4, 4.1.8).
 */
// run: np=1 timeout=20
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    int provided;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_Init(&argc, &argv);
    MPI_Finalize();
    MPI_T_finalize();
    puts("OK");
    return 0;
}
