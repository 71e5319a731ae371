/* MPI_Iallgatherv under the algorithm "brucks" puts the blocks one after the other.
 *
 * build: mpicc mpich_iallgatherv_brucks.c -o brucks       run: mpiexec -n 2 ./brucks
 * MPI-5.0 section 6.7: block j goes to displs[j]; what lies between the blocks is left alone.
 * expected: the block of rank 1 at displacement 3.
 * observed: at displacement 1 (MPICH 4.0.2 to 5.0.2).
 */
// run: np=2 timeout=20
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
    int rank, broken, data[4] = {-1, -1, -1, -1};
    int const counts[2] = {1, 1}, displacements[2] = {0, 3};
    MPI_Request request;
    setenv("MPIR_CVAR_IALLGATHERV_INTRA_ALGORITHM", "tsp_brucks", 1);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    data[displacements[rank]] = 100 + rank;
    MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_INT, data, counts, displacements, MPI_INT, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    broken = data[0] != 100 || data[1] != -1 || data[3] != 101;
    printf("%s: rank %d has %d %d %d %d\n", broken ? "BUG" : "OK", rank, data[0], data[1], data[2], data[3]);
    MPI_Finalize();
    return broken;
}
