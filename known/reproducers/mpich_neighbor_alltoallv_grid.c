/* MPICH 4.0: on a periodic grid with one or two processes in a dimension MPI_Neighbor_alltoallv and MPI_Neighbor_alltoallw
 * put the blocks of the two directions into each other's place.
 *
 * build: mpicc mpich_neighbor_alltoallv_grid.c -o mpich_neighbor_alltoallv_grid        run: mpiexec -n 2 ./mpich_neighbor_alltoallv_grid
 * MPI-5.0 section 8.6.2 (since MPI-4.0, an erratum to MPI-3.1): what is sent in direction -1 arrives from direction +1, and the
 * other way round, as the example with MPI_Sendrecv says; also where both neighbors are the same process.
 * expected: 20 from the other process's block for direction -1 stands in the block of direction +1.
 * observed: 10 20 in place of 20 10; MPI_Neighbor_alltoall is right.
 */
// run: np=2 timeout=20
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    int rank, size, wrong = 0, plain = 0;
    int const periodic = 1, counts[2] = {1, 1}, displacements[2] = {0, 1};
    MPI_Aint const offsets[2] = {0, sizeof(int)};
    MPI_Datatype const types[2] = {MPI_INT, MPI_INT};
    int const out[2] = {10, 20}; /* the same on both processes */
    int in[2] = {-1, -1};
    MPI_Comm ring;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &ring);
    MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, ring);
    plain = in[0] != 20 || in[1] != 10;
    MPI_Neighbor_alltoallv(out, counts, displacements, MPI_INT, in, counts, displacements, MPI_INT, ring);
    wrong += in[0] != 20 || in[1] != 10;
    MPI_Neighbor_alltoallw(out, counts, offsets, types, in, counts, offsets, types, ring);
    wrong += in[0] != 20 || in[1] != 10;
    if (rank == 0)
        printf("%s: %d of 2 calls are wrong, MPI_Neighbor_alltoall is %s\n", wrong ? "BUG" : "OK", wrong,
               plain ? "wrong" : "right");
    MPI_Comm_free(&ring);
    MPI_Finalize();
    return wrong != 0;
}
