/* Intel MPI over libfabric: MPI_WIN_SIZE of a dynamic window is -1.
 *
 * build: mpicc intel_win_dynamic_size.c -o intel_win_dynamic_size
 * run:   I_MPI_FABRICS=ofi I_MPI_OFI_PROVIDER=sockets FI_PROVIDER=sockets mpiexec -n 2 ./intel_win_dynamic_size
 * MPI-5.0 section 12.2.6: the attribute MPI_WIN_SIZE of a window of MPI_Win_create_dynamic is 0.
 * expected: 0.
 * observed: -1 where the provider has one-sided operations of its own.
 */
// run: np=2 timeout=30 transport=sockets
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    int rank, found = 0;
    MPI_Aint* size = NULL;
    MPI_Win window;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_get_attr(window, MPI_WIN_SIZE, &size, &found);
    int const wrong = !found || *size != 0;
    if (wrong || rank == 0) printf("%s: MPI_WIN_SIZE is %ld\n", wrong ? "BUG" : "OK", found ? (long)*size : -2L);
    MPI_Win_free(&window);
    MPI_Finalize();
    return wrong;
}
