/* Open MPI: MPI_Dist_graph_create that changes ranks leaves the graph at the old ranks.
 *
 * build: mpicc openmpi_dist_graph_reorder.c -o dist_graph_reorder        run: mpiexec -n 2 ./dist_graph_reorder
 * MPI-5.0 sections 8.5.4 and 8.5.5: MPI_Dist_graph_neighbors gives the edges of the graph that was given, also if ranks
 *   have changed.
 * expected: of an edge from rank 0 to rank 1, rank 0 knows that it goes out and rank 1 that it comes in.
 * observed: the other way round when the old communicator has its ranks in the order opposite to that of MPI_COMM_WORLD
 *   (Open MPI 4.1.4 to 5.0.11).
 */
// run: np=2 timeout=20
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    int world, old, rank, zero = 0, one = 1, weight = 3, in = -7, out = -7, weighted, wrong, any = 0;
    MPI_Comm reversed, graph;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &world);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -world, &reversed);
    MPI_Comm_rank(reversed, &old);
    MPI_Dist_graph_create(reversed, old == 0, &zero, &one, &one, &weight, MPI_INFO_NULL, 1, &graph);
    MPI_Comm_rank(graph, &rank);
    MPI_Dist_graph_neighbors_count(graph, &in, &out, &weighted);
    wrong = in != (rank == 1) || out != (rank == 0);
    MPI_Allreduce(&wrong, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (wrong) printf("BUG: rank %d has %d edges that come in and %d that go out\n", rank, in, out);
    else if (!any && world == 0) puts("OK");
    MPI_Comm_free(&graph);
    MPI_Comm_free(&reversed);
    MPI_Finalize();
    return any;
}
