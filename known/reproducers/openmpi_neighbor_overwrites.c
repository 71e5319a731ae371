/* Open MPI: a persistent neighborhood operation writes over the end of the receive buffer, where a process is its own neighbor's
 * neighbor on both sides.
 *
 * build: mpicc openmpi_neighbor_overwrites.c -o neighbor_overwrites        run: mpiexec -n 2 ./neighbor_overwrites
 * MPI-5.0 section 8.6.2: the block that a process sends to its neighbor in the positive direction is that which the neighbor
 *   receives from the negative one; section 3.2.2: no location beyond the receive buffer is changed.
 * expected: on a ring of two processes 8 KiB go to the one side and 4 KiB to the other, and arrive.
 * observed: the blocks are exchanged, and that of 8 KiB is written over the room for 4 KiB and what lies there: here the bytes
 *   after the receive buffer (Open MPI 5.0.11, which may also end the process).
 */
// run: np=2 timeout=20
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { small = 4096, big = 8192, guard = 16384 };

int main(int argc, char** argv) {
    static char out[small + big], in[big + small + guard];
    int rank, size, periodic = 1, wrong = 0;
    MPI_Comm ring;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &ring);
    MPI_Comm_set_errhandler(ring, MPI_ERRORS_RETURN);
    memset(out, 'n', small);       /* to the negative side */
    memset(out + small, 'p', big); /* to the positive side */
    memset(in, '-', sizeof in);
    int const sent[2] = {small, big}, sent_at[2] = {0, small}, received[2] = {big, small}, received_at[2] = {0, big};
    MPI_Neighbor_alltoallv_init(out, sent, sent_at, MPI_CHAR, in, received, received_at, MPI_CHAR, ring, MPI_INFO_NULL,
                                &request);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = big + small; i < big + small + guard; ++i) wrong += in[i] != '-';
    if (wrong) printf("BUG: %d bytes after the receive buffer are changed\n", wrong);
    else puts("OK");
    MPI_Request_free(&request);
    MPI_Comm_free(&ring);
    MPI_Finalize();
    return wrong != 0;
}
