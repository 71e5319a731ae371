/* Open MPI: a persistent buffered send delivers wrong bytes from its second start on.
 *
 * build: mpicc openmpi_bsend_init_restart.c -o bsend_init     run: mpiexec -n 1 ./bsend_init [bytes [posted]]
 *   (default 8192 bytes, receive posted before the send: 1)
 * MPI-5.0 section 3.9: MPI_Start of a request of MPI_Bsend_init sends what is in the buffer then, as MPI_Ibsend would;
 *   section 3.6: the attached buffer has room for both messages.
 * expected: each round receives its own bytes, 1, 2, 3.
 * observed: zeros from round 2 on, above about 1000 bytes to oneself and 4 KiB to another process; with several ranks not
 *   in every round, for it depends on timing (Open MPI 4.1.8; right in 5.0.11; open-mpi/ompi#12797).
 */
// run: np=1 timeout=10
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char** argv) {
    int const bytes = argc > 1 ? atoi(argv[1]) : 8192, posted = argc > 2 ? atoi(argv[2]) : 1;
    int rank, size, broken = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int const to = (rank + 1) % size, from = (rank + size - 1) % size, room = 3 * (bytes + MPI_BSEND_OVERHEAD + 64);
    char *const out = malloc((size_t)bytes), *const in = malloc((size_t)bytes);
    void* buffer = malloc((size_t)room);
    MPI_Request send, receive = MPI_REQUEST_NULL;
    int unused;
    MPI_Buffer_attach(buffer, room);
    MPI_Bsend_init(out, bytes, MPI_CHAR, to, 0, MPI_COMM_WORLD, &send);
    for (int round = 1; round <= 3; ++round) {
        int wrong = 0;
        memset(out, round, (size_t)bytes);
        memset(in, -1, (size_t)bytes);
        if (posted) MPI_Irecv(in, bytes, MPI_CHAR, from, 0, MPI_COMM_WORLD, &receive);
        MPI_Start(&send);
        if (posted) MPI_Wait(&receive, MPI_STATUS_IGNORE);
        else MPI_Recv(in, bytes, MPI_CHAR, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&send, MPI_STATUS_IGNORE);
        for (int i = 0; i < bytes; ++i) wrong += in[i] != round;
        if (wrong)
            printf("BUG: rank %d, round %d: %d of %d bytes wrong, the first is %d\n", rank, round, wrong, bytes, in[0]);
        broken |= wrong != 0;
    }
    if (!broken) puts("OK");
    MPI_Request_free(&send);
    MPI_Buffer_detach(&buffer, &unused);
    MPI_Finalize();
    free(buffer), free(out), free(in);
    return broken;
}
