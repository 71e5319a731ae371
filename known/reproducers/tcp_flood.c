/* A message with a tag of its own, after many that nobody has received yet: over libfabric's tcp it never arrives.
 *
 * build: mpicc tcp_flood.c -o flood
 * run: MPIR_CVAR_CH4_NETMOD=ofi MPIR_CVAR_NOLOCAL=1 FI_PROVIDER=tcp mpiexec -n 2 ./flood
 * MPI-5.0 section 3.5: a send and a receive that match complete, whatever other messages are pending.
 * expected: OK.
 * observed: both processes wait in MPI_Recv for ever (MPICH 4.3.2 and 5.0.2, Open MPI 5.0.11: the provider reads no more from a
 *   connection once it has saved 64 messages that have no receive).
 */
// run: np=2 timeout=20 transport=tcp
#include <mpi.h>
#include <stdio.h>

enum { messages = 10000 };
static MPI_Request sends[messages + 1];

int main(int argc, char** argv) {
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < messages; ++i) MPI_Isend(NULL, 0, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &sends[i]);
    MPI_Isend(NULL, 0, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD, &sends[messages]);
    MPI_Recv(NULL, 0, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < messages; ++i) MPI_Recv(NULL, 0, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Waitall(messages + 1, sends, MPI_STATUSES_IGNORE);
    if (rank == 0) puts("OK");
    MPI_Finalize();
    return 0;
}
