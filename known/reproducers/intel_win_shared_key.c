/* Intel MPI over libfabric: MPI_Put into memory of MPI_Win_allocate_shared ends the job.
 *
 * build: mpicc intel_win_shared_key.c -o intel_win_shared_key
 * run:   I_MPI_FABRICS=ofi I_MPI_OFI_PROVIDER=sockets FI_PROVIDER=sockets mpiexec -n 2 ./intel_win_shared_key
 * MPI-5.0 section 12.2.3: the memory of a shared window can be accessed by remote memory access operations, too.
 * expected: the other process has the values.
 * observed: "OFI poll failed … Key was rejected by service": where the provider has operations on remote memory, the key
 *   that goes with the memory of a shared window is not one that it has given.
 */
// run: np=2 timeout=30 transport=sockets
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    enum { n = 1000 };
    int rank, size, wrong = 0, *mine, in[n];
    MPI_Comm node;
    MPI_Win window;
    MPI_Init(&argc, &argv);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &rank);
    MPI_Comm_size(node, &size);
    if (size < 2) {
        printf("N/A: the processes share no memory\n");
        MPI_Finalize();
        return 0;
    }
    MPI_Win_allocate_shared(n * sizeof(int), sizeof(int), MPI_INFO_NULL, node, &mine, &window);
    for (int i = 0; i < n; ++i) mine[i] = -1, in[i] = 10 * i + rank;
    MPI_Win_fence(0, window);
    MPI_Put(in, n, MPI_INT, 1 - rank, 0, n, MPI_INT, window);
    MPI_Win_fence(0, window);
    for (int i = 0; i < n; ++i) wrong += mine[i] != 10 * i + 1 - rank;
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, node);
    if (rank == 0) printf("%s: %d integers are wrong\n", wrong ? "BUG" : "OK", wrong);
    MPI_Win_free(&window);
    MPI_Comm_free(&node);
    MPI_Finalize();
    return wrong != 0;
}
