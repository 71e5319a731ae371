/* MPI_Dist_graph_create forgets an edge.
 *
 * build: mpicc mpich_dist_graph_probe.c -o graph   run: MPIR_CVAR_NOLOCAL=1 FI_PROVIDER=tcp mpiexec -n 4 ./graph
 * MPI-5.0 section 8.5.4: the graph has the edges that all processes together hand in; section 8.5.5:
 *   MPI_Dist_graph_neighbors_count gives each process the numbers of those that end and of those that begin there.
 * expected: OK.
 * observed: one of rank 0's six sources is missing; MPICH 4.0 fails with MPI_ERR_TRUNCATE. It probes for a message of any source
 *   and receives with any source again: that may be another, longer one.
 */
// run: np=4 timeout=30 transport=tcp
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    enum { rounds = 100 };
    int rank, size, wrong = 0, all = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    // From each rank to itself, the next one and rank 0. The edges of a rank are handed in by the one after it.
    int const sender = (rank + size - 1) % size, to[] = {sender, rank, 0}, degree = 3;
    int const own = rank == 0 ? size + 2 : 2;
    for (int k = 0; k < rounds; ++k) {
        MPI_Comm graph;
        int in = 0, out = 0, weighted;
        if (MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &sender, &degree, to, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph)) {
            printf("BUG: rank %d: error in round %d\n", rank, k);
            fflush(stdout);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
        MPI_Dist_graph_neighbors_count(graph, &in, &out, &weighted);
        wrong += in != own || out != degree;
        MPI_Comm_free(&graph);
    }
    MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) printf("%s: edges are missing %d times in %d graphs\n", all ? "BUG" : "OK", all, rounds);
    MPI_Finalize();
    return all != 0;
}
