/* Open MPI 5.0.11 over libfabric: MPI_Accumulate of a datatype with gaps takes thousands of times as long as MPI_Send.
 *
 * build: mpicc openmpi_accumulate_pieces.c -o openmpi_accumulate_pieces
 * run:   with mtl ofi over FI_PROVIDER=sockets: mpiexec -n 2 ./openmpi_accumulate_pieces
 * MPI-5.0 section 12.7.3: an operation must end some time; how soon is the library's affair.
 * expected: little more than a send of the same datatype takes, which is packed once.
 * observed: where the provider has one-sided operations, each piece is fetched, changed and written back by itself, one
 *   after the other. Over `sockets` 32,768 pieces take more than a minute; 262,144 from each of four processes to
 *   each take minutes over faster ones.
 */
// run: np=2 timeout=60 transport=sockets
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
    enum { pieces = 16384 };
    int rank, *target, *out = calloc(2 * pieces, sizeof(int));
    MPI_Datatype gaps;
    MPI_Win window;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Type_vector(pieces, 1, 2, MPI_INT, &gaps);
    MPI_Type_commit(&gaps);
    target = calloc(2 * pieces, sizeof(int));
    MPI_Win_create(target, 2 * pieces * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    double begin = 0, sends = 0, accumulates = 0;
    for (int turn = 0; turn < 2; ++turn) { /* the first one sets up what it needs */
        MPI_Barrier(MPI_COMM_WORLD);
        begin = MPI_Wtime();
        if (rank == 0) MPI_Ssend(out, 1, gaps, 1, 0, MPI_COMM_WORLD);
        if (rank == 1) MPI_Recv(target, 1, gaps, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        sends = MPI_Wtime() - begin;
        MPI_Win_fence(0, window);
        begin = MPI_Wtime();
        if (rank == 0) MPI_Accumulate(out, 1, gaps, 1, 0, 1, gaps, MPI_BXOR, window);
        MPI_Win_fence(0, window);
        accumulates = MPI_Wtime() - begin;
    }
    int const slow = accumulates > 1000 * sends;
    if (rank == 0)
        printf("%s: MPI_Accumulate takes %.0f times as long as MPI_Ssend (%.1f ms)\n", slow ? "BUG" : "OK",
               accumulates / sends, 1e3 * accumulates);
    MPI_Win_free(&window);
    MPI_Type_free(&gaps);
    free(out), free(target);
    MPI_Finalize();
    return slow;
}
