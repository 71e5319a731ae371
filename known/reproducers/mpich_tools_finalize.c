/* MPICH before 5: the first MPI_T_finalize takes the library's own settings away: what comes after it crashes.
 *
 * build: mpicc mpich_tools_finalize.c -o mpich_tools_finalize        run: mpiexec -n 2 ./mpich_tools_finalize
 * MPI-5.0 section 15.3.4: MPI_T_finalize finalizes the use of the tools interface, which can be initialized again; section
 *   15.3: it can be used independently from the communication functionality.
 * expected: the interface stays open until it is finalized as often as initialized; collective operations work.
 * observed: SIGSEGV in MPI_T_cvar_get_num (4.0), in MPI_Barrier or MPI_Allreduce (4.3).
 */
// run: np=2 timeout=20
#include <mpi.h>
#include <stdio.h>

enum { n = 65536 };
static int data[n], sums[n];

int main(int argc, char** argv) {
    int rank, size, provided, number, bug = 0;
    MPI_Comm dup;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < n; ++i) data[i] = rank;
    for (int round = 0; round < 4; ++round) {
        MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
        MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
        MPI_T_finalize();
        MPI_T_cvar_get_num(&number); // open still
        MPI_T_finalize();
        MPI_Comm_dup(MPI_COMM_WORLD, &dup);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Allreduce(data, sums, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        for (int i = 0; i < n; ++i) bug += sums[i] != size * (size - 1) / 2;
        MPI_Bcast(sums, n, MPI_INT, 0, MPI_COMM_WORLD);
        MPI_Barrier(dup);
        MPI_Allreduce(data, sums, n, MPI_INT, MPI_SUM, dup);
        MPI_Comm_free(&dup);
    }
    if (rank == 0 || bug) printf("%s: %d sums are wrong\n", bug ? "BUG" : "OK", bug);
    MPI_Finalize();
    return bug != 0;
}
