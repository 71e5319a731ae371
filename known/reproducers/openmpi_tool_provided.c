/* Open MPI: MPI_T_init_thread while the tools interface is open.
 *
 * build: mpicc openmpi_tool_provided.c -o tool_provided     run: mpiexec -n 1 ./tool_provided
 * MPI-5.0 section 15.3.4: MPI_T_init_thread may be called several times; provided is the level of thread support.
 * expected: the second call gives a level, too.
 * observed: it leaves provided as it was (Open MPI 4.1.4 to 5.0.11).
 */
// run: np=1 timeout=20
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    int first = -7, second = -7, wrong;
    MPI_Init(&argc, &argv);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &first);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &second);
    wrong = first == -7 || second == -7;
    if (wrong) printf("BUG: the first call provides %d, the second one %d\n", first, second);
    else puts("OK");
    MPI_T_finalize();
    MPI_T_finalize();
    MPI_Finalize();
    return wrong;
}
