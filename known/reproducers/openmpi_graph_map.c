/* Open MPI: MPI_Graph_map gives a rank to a process that a smaller graph has no place for.
 *
 * build: mpicc openmpi_graph_map.c -o graph_map        run: mpiexec -n 2 ./graph_map
 * MPI-5.0 section 8.5.8: MPI_UNDEFINED if the calling process does not belong to the graph.
 * expected: of two processes and a graph of one node, one process gets 0, the other one MPI_UNDEFINED.
 * observed: no process gets MPI_UNDEFINED (Open MPI 4.1.4 to 5.0.11).
 */
// run: np=2 timeout=20
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    int rank, index = 1, edge = 0, mapped = -7, outside, total = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Graph_map(MPI_COMM_WORLD, 1, &index, &edge, &mapped);
    outside = mapped == MPI_UNDEFINED;
    MPI_Allreduce(&outside, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0 && total != 1) printf("BUG: %d of 2 processes get MPI_UNDEFINED, expected 1\n", total);
    else if (rank == 0) puts("OK");
    MPI_Finalize();
    return total != 1;
}
