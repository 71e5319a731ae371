/* Open MPI: partitions after the first lie at multiples of the datatype's size where its extent is meant.
 *
 * build: mpicc openmpi_partition_extent.c -o partition_extent     run: mpiexec -n 1 ./partition_extent  (or more ranks)
 * Needs MPI-4.0; Open MPI 5 has the calls early.
 * MPI-5.0 section 4.2.3: the buffer is made of equal partitions, each of `count` objects of the datatype, one after the other
 *   in memory; objects of a datatype follow each other by its extent (section 5.1). So partition p begins at
 *   p * count * extent.
 * expected: every int of every partition arrives: {0, gap, 2, gap} for two partitions of one int of extent 8.
 * observed: partition 1 is read from and written to offset 4 (the size) instead of 8: it overwrites the gap, and the
 *   element never arrives (Open MPI 5.0.11).
 */
// run: np=1 timeout=10
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    int rank, size, wrong = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Datatype spaced; /* one int, extent of two */
    MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &spaced);
    MPI_Type_commit(&spaced);
    int out[4] = {0, 1, 2, 3}, in[4] = {-1, -1, -1, -1};
    int const expected[4] = {0, -1, 2, -1};
    MPI_Request requests[2];
    int const to = (rank + 1) % size, from = (rank + size - 1) % size;
    MPI_Precv_init(in, 2, 1, spaced, from, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
    MPI_Psend_init(out, 2, 1, spaced, to, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
    MPI_Startall(2, requests);
    MPI_Pready(0, requests[1]);
    MPI_Pready(1, requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 4; ++i) wrong |= in[i] != expected[i];
    if (wrong) printf("BUG: received {%d, %d, %d, %d}, expected {0, -1, 2, -1}\n", in[0], in[1], in[2], in[3]);
    else puts("OK");
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    MPI_Type_free(&spaced);
    MPI_Finalize();
    return wrong;
}
