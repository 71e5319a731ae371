/* MPICH 4.0: MPI_Neighbor_alltoallw where a process has more incoming neighbors than outgoing ones.
 *
 * build: mpicc mpich_neighbor_alltoallw_degree.c -o neighbor_alltoallw_degree        run: mpiexec -n 2 ./neighbor_alltoallw_degree
 * MPI-5.0 section 8.6.2: recvcounts, rdispls and recvtypes have as many entries as there are incoming neighbors.
 * expected: process 0, with three incoming edges and one outgoing one, receives three blocks.
 * observed: the last ones do not arrive (MPICH 4.0.2).
 */
// run: np=2 timeout=20
#include <mpi.h>
#include <stdio.h>

enum { n = 100, most = 3 };

int main(int argc, char** argv) {
    int rank, missing = 0, counts[most], peers[most];
    int const degree[2][2] = {{3, 1}, {0, 2}}; /* in, out: one edge from 0 to itself, two from 1 to 0 */
    static int out[most][n], in[most][n];
    MPI_Aint places[most];
    MPI_Datatype types[most];
    MPI_Comm graph;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < most; ++i) {
        counts[i] = n, places[i] = (MPI_Aint)sizeof(out[0]) * i, types[i] = MPI_INT, peers[i] = i > 0;
        for (int k = 0; k < n; ++k) out[i][k] = 7;
    }
    int const to[2] = {0, 0};
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, degree[rank][0], peers, MPI_UNWEIGHTED, degree[rank][1], to,
                                   MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
    MPI_Neighbor_alltoallw(out, counts, places, types, in, counts, places, types, graph);
    for (int i = 0; i < degree[rank][0]; ++i) missing += in[i][n - 1] != 7;
    if (missing > 0) printf("BUG: %d of %d blocks have not arrived\n", missing, degree[rank][0]);
    else if (rank == 0) puts("OK");
    fflush(stdout);
    MPI_Comm_free(&graph);
    MPI_Finalize();
    return missing > 0;
}
