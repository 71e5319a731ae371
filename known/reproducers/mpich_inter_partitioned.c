/* Partitioned messages on an intercommunicator never arrive if one group has made another communicator before.
 *
 * build: mpicc mpich_inter_partitioned.c -o partitioned       run: mpiexec -n 2 ./partitioned
 * MPI-5.0 section 4.2.1: a partitioned receive is matched by source, tag and communicator, as any other.
 * expected: the receive completes.
 * observed: it never does (MPICH 4.0.2 to 5.0.2).
 */
// run: np=2 timeout=20
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    int rank, out = 42, in = 0, done = 0, all = 0;
    MPI_Comm half, before = MPI_COMM_NULL, inter;
    MPI_Request requests[2];
    double end;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank, 0, &half);
    if (rank == 0) MPI_Comm_dup(half, &before);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank, 0, &inter);
    MPI_Psend_init(&out, 1, 1, MPI_INT, 0, 5, inter, MPI_INFO_NULL, &requests[0]);
    MPI_Precv_init(&in, 1, 1, MPI_INT, 0, 5, inter, MPI_INFO_NULL, &requests[1]);
    MPI_Start(&requests[1]);
    MPI_Start(&requests[0]);
    MPI_Pready(0, requests[0]);
    // Both, as data may wait for the completing call of the send (rationale of section 4.2).
    for (end = MPI_Wtime() + 10; !done && MPI_Wtime() < end;) MPI_Testall(2, requests, &done, MPI_STATUSES_IGNORE);
    printf("%s: rank %d %s\n", done && in == 42 ? "OK" : "BUG", rank, done ? "received" : "waits for ever");
    fflush(stdout);
    MPI_Allreduce(&done, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (!all) MPI_Abort(MPI_COMM_WORLD, 1); // what is under way would never end
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
    if (before != MPI_COMM_NULL) MPI_Comm_free(&before);
    MPI_Finalize();
    return in != 42;
}
