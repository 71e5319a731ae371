/* MPICH 4.0: MPI_Neighbor_alltoall on a graph with two edges from one process to another exchanges their blocks.
 *
 * build: mpicc mpich_neighbor_alltoall_edges.c -o mpich_neighbor_alltoall_edges        run: mpiexec -n 2 ./mpich_neighbor_alltoall_edges
 * MPI-5.0 section 8.6.2: on a distributed graph "the outcome is as if" each process sent to its outgoing neighbors and received
 * from its incoming ones in their order; so the first of two messages goes into the first of two blocks (section 3.5).
 * expected: 10 20.
 * observed: 20 10; MPI_Neighbor_alltoallv is right.
 */
// run: np=2 timeout=20
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    int rank, size, wrong;
    int const out[2] = {10, 20};
    int in[2] = {-1, -1};
    MPI_Comm graph;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int const next = (rank + 1) % size, before = (rank + size - 1) % size;
    int const from[2] = {before, before}, to[2] = {next, next};
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, from, MPI_UNWEIGHTED, 2, to, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                   &graph);
    MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, graph);
    wrong = in[0] != 10 || in[1] != 20;
    if (rank == 0) printf("%s: received %d %d, expected 10 20\n", wrong ? "BUG" : "OK", in[0], in[1]);
    MPI_Comm_free(&graph);
    MPI_Finalize();
    return wrong;
}
