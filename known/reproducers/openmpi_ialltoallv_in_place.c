/* MPI_Ialltoallv with MPI_IN_PLACE where some blocks are empty: blocks arrive that are for others.
 *
 * build: mpicc openmpi_ialltoallv_in_place.c -o in_place       run: mpiexec -n 4 ./in_place
 * MPI-5.0 sections 6.8, 6.12.6: the block j of rank i becomes the block i of rank j; both have the same length.
 * expected: OK.
 * observed: for blocks of 8 KiB and more data of a wrong rank (Open MPI 5.0.11, 4 ranks).
 */
// run: np=4 timeout=30
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { length = 20000, ranks = 16 };

int main(int argc, char** argv) {
    int rank, size, total = 0, wrong = 0, sum = 0, counts[ranks], displs[ranks];
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < size; ++i) {
        counts[i] = (i + rank) % 3 == 1 ? length : 0; // the same seen from rank and from i
        displs[i] = total;
        total += counts[i];
    }
    int* data = malloc(sizeof(int) * (size_t)(total + 1));
    for (int i = 0; i < size; ++i)
        for (int j = 0; j < counts[i]; ++j) data[displs[i] + j] = (rank * ranks + i) * length + j;
    MPI_Ialltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, data, counts, displs, MPI_INT, MPI_COMM_WORLD,
                   &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < size; ++i)
        for (int j = 0; j < counts[i]; ++j) wrong += data[displs[i] + j] != (i * ranks + rank) * length + j;
    MPI_Reduce(&wrong, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) printf(sum ? "BUG: %d elements are wrong\n" : "OK\n", sum);
    free(data);
    MPI_Finalize();
    return sum != 0;
}
