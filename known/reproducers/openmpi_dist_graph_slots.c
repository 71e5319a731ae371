/* Open MPI: MPI_Dist_graph_create that may change ranks ends the process.
 *
 * build: mpicc openmpi_dist_graph_slots.c -o dist_graph_slots        run: mpiexec -n 3 ./dist_graph_slots
 * MPI-5.0 section 8.5.4: with reorder = true the library is free to remap; the call returns a new communicator.
 * expected: a communicator with the graph.
 * observed: exit after "Not enough slots/constraints (1) for the communication matrix order (2)", where there are more
 *   processes than cores and the old communicator does not have all of them (Open MPI 4.1.4 to 5.0.11 with 3 processes on 2 cores).
 */
// run: np=3 timeout=20
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int back = 0;
static void at_exit(void) {
    if (!back) puts("BUG: MPI_Dist_graph_create ended the process"), fflush(stdout);
}

int main(int argc, char** argv) {
    int world, rank, size, one = 1, next;
    MPI_Comm half, graph;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &world);
    MPI_Comm_split(MPI_COMM_WORLD, world % 2, world, &half);
    MPI_Comm_rank(half, &rank);
    MPI_Comm_size(half, &size);
    next = (rank + 1) % size;
    atexit(at_exit);
    MPI_Dist_graph_create(half, 1, &rank, &one, &next, MPI_UNWEIGHTED, MPI_INFO_NULL, 1, &graph);
    back = 1;
    MPI_Comm_free(&graph);
    MPI_Comm_free(&half);
    MPI_Barrier(MPI_COMM_WORLD);
    if (world == 0) puts("OK");
    MPI_Finalize();
    return 0;
}
