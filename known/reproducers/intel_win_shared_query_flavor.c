/* Intel MPI: MPI_Win_shared_query of a window of MPI_Win_allocate or MPI_Win_create ends in a segmentation fault.
 *
 * build: mpicc intel_win_shared_query_flavor.c -o win_shared_query_flavor        run: mpiexec -n 2 ./win_shared_query_flavor
 * MPI-5.0 section 12.2.3: MPI_Win_shared_query may be called on windows created by MPI_Win_allocate_shared, MPI_Win_allocate or
 *   MPI_Win_create; where memory cannot be accessed directly it returns size 0. So since MPI-4.1.
 * expected: size 0, or an address at which the memory of the process is.
 * observed: a segmentation fault.
 */
// run: np=2 timeout=20
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    int rank, unit = -1, wrong, version, subversion;
    int *memory = NULL, *there = NULL;
    MPI_Aint bytes = -1;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Get_version(&version, &subversion);
    if (version < 4 || (version == 4 && subversion < 1)) {
        if (rank == 0) puts("N/A: before MPI-4.1");
        MPI_Finalize();
        return 0;
    }
    MPI_Win_allocate(sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    MPI_Win_fence(0, win);
    *memory = 100 + rank;
    MPI_Win_fence(0, win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    wrong = MPI_Win_shared_query(win, 0, &bytes, &unit, &there) != MPI_SUCCESS || (bytes != 0 && *there != 100);
    if (wrong) printf("BUG: rank %d: MPI_Win_shared_query fails or gives another address\n", rank);
    MPI_Win_fence(0, win);
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_LOR, MPI_COMM_WORLD);
    if (!wrong && rank == 0) puts("OK");
    MPI_Win_free(&win);
    MPI_Finalize();
    return wrong;
}
