/* MPI_Accumulate with MPI_MIN and MPI_MAX over libfabric compares integers of 4 and 8 bytes as if they had no sign.
 *
 * build: mpicc openmpi_accumulate_signed.c -o signed
 * run: OMPI_MCA_pml=cm OMPI_MCA_mtl=ofi OMPI_MCA_mtl_ofi_provider_include=sockets mpiexec -n 2 ./signed
 * MPI-5.0 sections 12.3.4.1 and 6.9.2: MPI_MIN and MPI_MAX of MPI_LONG are the minimum and maximum of long.
 * expected: the minimum of 1 and -1 is -1, the maximum is 1.
 * observed: the other way round, where the provider has atomic operations (Open MPI 5.0.11).
 */
// run: np=2 timeout=20 transport=sockets
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    int rank, size, wrong;
    long memory[2] = {1, 1};
    long const given[2] = {-1, -1};
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Win_create(memory, sizeof memory, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_fence(0, win);
    MPI_Accumulate(&given[0], 1, MPI_LONG, (rank + 1) % size, 0, 1, MPI_LONG, MPI_MIN, win);
    MPI_Accumulate(&given[1], 1, MPI_LONG, (rank + 1) % size, 1, 1, MPI_LONG, MPI_MAX, win);
    MPI_Win_fence(0, win);
    wrong = memory[0] != -1 || memory[1] != 1;
    if (wrong) printf("BUG: minimum %ld, expected -1; maximum %ld, expected 1\n", memory[0], memory[1]);
    else puts("OK");
    MPI_Win_free(&win);
    MPI_Finalize();
    return wrong;
}
