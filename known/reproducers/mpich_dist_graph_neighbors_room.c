/* MPI_Dist_graph_neighbors with room for fewer neighbours than there are.
 *
 * build: mpicc mpich_dist_graph_neighbors_room.c -o room     run: mpiexec -n 1 ./room
 * MPI-5.0 section 8.5.5: if maxindegree or maxoutdegree is smaller than the number of edges, only the first part of the
 *   full list is returned.
 * expected: MPI_SUCCESS and the first of two neighbours.
 * observed: an error, "Invalid argument for maxindegree: value is 1 but must be at least 2" (MPICH 4.0.2 to 5.0.2).
 */
// run: np=1 timeout=10
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    // Two edges from the process to itself.
    int const others[2] = {0, 0};
    int source = -7, destination = -7;
    MPI_Comm graph;
    MPI_Dist_graph_create_adjacent(MPI_COMM_SELF, 2, others, MPI_UNWEIGHTED, 2, others, MPI_UNWEIGHTED, MPI_INFO_NULL,
                                   0, &graph);
    MPI_Comm_set_errhandler(graph, MPI_ERRORS_RETURN);
    int const code = MPI_Dist_graph_neighbors(graph, 1, &source, MPI_UNWEIGHTED, 1, &destination, MPI_UNWEIGHTED);
    int const wrong = code != MPI_SUCCESS || source != 0 || destination != 0;
    if (wrong)
        printf("BUG: MPI_Dist_graph_neighbors with room for one of two neighbours returns %d and gives %d and %d\n",
               code, source, destination);
    else puts("OK");
    MPI_Comm_free(&graph);
    MPI_Finalize();
    return wrong;
}
