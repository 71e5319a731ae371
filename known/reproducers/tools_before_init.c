/* MPICH 4.0, Open MPI 5: the tools interface is opened and closed before MPI_Init.
 *
 * build: mpicc tools_before_init.c -o tools_before_init      run: mpiexec -n 1 ./tools_before_init
 * MPI-5.0 section 15.3.4: MPI_T_init_thread and MPI_T_finalize may be called any number of times, before MPI_Init as well, and have
 *   no influence on MPI.
 * expected: MPI_Init works.
 * observed: a segmentation fault in MPI_Init (MPICH 4.0.2, Open MPI 5.0.11).
 */
// run: np=1 timeout=20
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    int provided, count = 0;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_T_cvar_get_num(&count);
    MPI_T_finalize();
    MPI_Init(&argc, &argv);
    puts("OK");
    MPI_Finalize();
    return 0;
}
