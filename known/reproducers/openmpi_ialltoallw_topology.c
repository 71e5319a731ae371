/* Open MPI 4.1: MPI_Ialltoallw on a communicator with a topology takes the number of neighbors for that of processes.
 *
 * build: mpicc openmpi_ialltoallw_topology.c -o topology        run: mpiexec -n 2 ./topology
 * MPI-5.0 section 6.12.6: MPI_Ialltoallw is MPI_Alltoallw (section 6.8), whose arrays have as many entries as the group has
 *   processes. A topology changes nothing of that.
 * expected: the exchange of 2 processes on a grid of 3 dimensions, on which each has 6 neighbors.
 * observed: SIGSEGV: 6 datatypes are read, of which the last 4 are not there.
 */
// run: np=2 timeout=20
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static void beyond(int signal) {
    (void)signal;
    static char const text[] = "BUG: SIGSEGV in MPI_Ialltoallw\n";
    (void)!write(1, text, sizeof text - 1);
    _exit(1);
}

int main(int argc, char** argv) {
    int rank, size, wrong = 0, out[2] = {1, 2}, in[2] = {0};
    int dims[3] = {0, 1, 1}, periods[3] = {1, 1, 1}, counts[6] = {1, 1}, places[6] = {0, sizeof(int)};
    union {
        MPI_Datatype type;
        unsigned long any;
    } all[6];
    MPI_Datatype types[6];
    MPI_Comm grid;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Dims_create(size, 3, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 3, dims, periods, 0, &grid);
    MPI_Comm_rank(grid, &rank);
    for (int i = 0; i < 6; ++i) {
        all[i].any = 0x10; // no handle
        if (i < size) all[i].type = MPI_INT;
        types[i] = all[i].type;
    }
    signal(SIGSEGV, beyond);
    MPI_Ialltoallw(out, counts, places, types, in, counts, places, types, grid, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < size && i < 2; ++i) wrong += in[i] != rank + 1;
    if (wrong || rank == 0) printf("%s: %d integers are wrong\n", wrong ? "BUG" : "OK", wrong);
    MPI_Comm_free(&grid);
    MPI_Finalize();
    return wrong != 0;
}
