/* MPICH 4.0: MPI_T_finalize takes the library's own settings away: MPI_Init, or MPI_Comm_dup if MPI is initialized, crashes.
 *
 * build: mpicc mpich_tools_finalize.c -o mpich_tools_finalize        run: mpiexec -n 2 ./mpich_tools_finalize
 * MPI-5.0 section 15.3.4: MPI_T_finalize finalizes the use of the tools interface, which can be initialized again; section
 *   15.3: it can be used independently from the communication functionality.
 * expected: duplicates of MPI_COMM_WORLD that work.
 * observed: SIGSEGV in MPI_Init; without the first call, in MPI_Comm_dup.
 */
// run: np=2 timeout=20
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    int rank, size, provided, sum = -1, bug = 0;
    MPI_Comm dup;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_T_finalize();
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 2; ++i) {
        MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
        MPI_T_finalize();
        MPI_Comm_dup(MPI_COMM_WORLD, &dup);
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, dup);
        bug += sum != size * (size - 1) / 2;
        MPI_Comm_free(&dup);
    }
    if (rank == 0) printf("%s: the sum is %d\n", bug ? "BUG" : "OK", sum);
    MPI_Finalize();
    return bug;
}
