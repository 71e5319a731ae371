/* Intel MPI: MPI_Gather damages the heap when the data of an element does not begin at its address.
 *
 * build: mpicc intel_gather_lower_bound.c -o intel_gather_lower_bound        run: mpiexec -n 2 ./intel_gather_lower_bound
 * MPI-5.0 section 6.5: general, derived datatypes are allowed for sendtype and recvtype; section 5.1.8: the true lower bound
 *   says where their data begins.
 * expected: elements of one integer at byte 4 are gathered, and the heap is left alone.
 * observed: a temporary buffer is overrun by the true lower bound: malloc ends the process. The data is right.
 */
// run: np=2 timeout=20
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { n = 511 };

static void damaged(int signal) {
    (void)signal;
    static char const text[] = "BUG: the heap is damaged\n";
    (void)!write(1, text, sizeof text - 1);
    _exit(1);
}

int main(int argc, char** argv) {
    int rank, size;
    int const one = 1;
    MPI_Aint const at = 4;
    MPI_Aint lower, extent;
    MPI_Datatype type;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Type_create_hindexed(1, &one, &at, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Type_get_extent(type, &lower, &extent);
    signal(SIGABRT, damaged);
    signal(SIGSEGV, damaged);
    for (int round = 0; round < 20; ++round) {
        char* const out = calloc(n + 8, extent);
        char* const in = calloc((size_t)n * size + 8, extent);
        MPI_Gather(out, n, type, in, n, type, 0, MPI_COMM_WORLD);
        free(out), free(in);
    }
    if (rank == 0) printf("OK\n");
    MPI_Type_free(&type);
    MPI_Finalize();
    return 0;
}
