/* MPI_Rget into a datatype with gaps: its request is complete before the data are there.
 *
 * build: mpicc mpich_rget_early.c -o early
 * run: MPIR_CVAR_CH4_NETMOD=ofi MPIR_CVAR_NOLOCAL=1 FI_PROVIDER=tcp mpiexec -n 2 ./early
 * MPI-5.0 section 12.3.5: the completion of an MPI_Rget says that the data are available in the origin buffer.
 * expected: OK.
 * observed: the buffer is as it was before (MPICH 5.0.2 over libfabric); 4.3.2 crashes.
 */
// run: np=2 timeout=20 transport=tcp
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { n = 7 };

int main(int argc, char** argv) {
    int rank, wrong = 0, data[2 * n];
    MPI_Datatype gaps;
    MPI_Win window;
    MPI_Request request;
    int* base;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Type_vector(n, 1, 2, MPI_INT, &gaps);
    MPI_Type_commit(&gaps);
    MPI_Win_allocate(n * sizeof(int), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, window); // MPI_Win_unlock shows the stores to the others
    for (int i = 0; i < n; ++i) base[i] = i + 1;
    MPI_Win_unlock(rank, window);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int round = 0; round < 20 && rank == 1; ++round) {
        memset(data, 0, sizeof data);
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
        MPI_Rget(data, 1, gaps, 0, 0, n, MPI_INT, window, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        for (int i = 0; i < n; ++i) wrong += data[2 * i] != i + 1;
        MPI_Win_unlock(0, window);
    }
    if (rank == 1) printf(wrong ? "BUG: %d ints were not there yet\n" : "OK\n", wrong);
    MPI_Win_free(&window);
    MPI_Type_free(&gaps);
    MPI_Finalize();
    return wrong != 0;
}
