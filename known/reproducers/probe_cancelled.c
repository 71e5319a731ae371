/* The status that MPI_Probe gives says that the message was cancelled.
 *
 * build: mpicc probe_cancelled.c -o probe   run: MPIR_CVAR_NOLOCAL=1 FI_PROVIDER=tcp mpiexec -n 2 ./probe
 * MPI-5.0 section 3.8.1: the status is the one that MPI_Recv with the same arguments would give; section 3.8.4:
 *   MPI_Test_cancelled returns flag = true if the communication was cancelled, otherwise false.
 * expected: OK.
 * observed: flag is what was in memory before: in the status (Open MPI over libfabric) or on the stack (MPICH over libfabric).
 */
// run: np=2 timeout=20 transport=tcp
#include <mpi.h>
#include <stdio.h>
#include <string.h>

// What the library leaves as it was on its stack is 1 now.
static void fill_stack(void) {
    volatile unsigned char bytes[32768];
    for (size_t k = 0; k < sizeof bytes; ++k) bytes[k] = 0xff;
}

int main(int argc, char** argv) {
    enum { rounds = 200 };
    int rank, size, wrong = 0, all = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int const right = (rank + 1) % size, left = (rank + size - 1) % size;
    for (int k = 0; k < rounds; ++k) {
        int got, flag = 0;
        MPI_Request request;
        MPI_Status status;
        memset(&status, 0xa5, sizeof status);
        MPI_Isend(&rank, 1, MPI_INT, right, 0, MPI_COMM_WORLD, &request);
        fill_stack();
        MPI_Probe(left, 0, MPI_COMM_WORLD, &status);
        MPI_Test_cancelled(&status, &flag);
        wrong += flag != 0;
        MPI_Recv(&got, 1, MPI_INT, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%s: %d of %d statuses say that the message was cancelled\n", all ? "BUG" : "OK", all, size * rounds);
    MPI_Finalize();
    return all != 0;
}
