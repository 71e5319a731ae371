/* Open MPI: MPI_Compare_and_swap of 8 bytes on memory of its own process crashes.
 *
 * build: mpicc openmpi_compare_and_swap.c -o compare_and_swap        run: mpiexec -n 2 ./compare_and_swap
 * MPI-5.0 section 12.3.4.4: C integers, among them MPI_LONG and MPI_INT64_T, may be compared and swapped.
 * expected: the value is swapped.
 * observed: signal SIGSEGV in mca_btl_vader_emu_acswap (Open MPI 4.1.4 without single-copy memory access).
 */
// run: np=2 timeout=20
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static void crashed(int number) {
    printf("BUG: signal %d\n", number);
    fflush(stdout);
    _Exit(1);
}

int main(int argc, char** argv) {
    int rank;
    long memory = 5, expected = 5, desired = 7, found = -1;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    signal(SIGSEGV, crashed);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_create(&memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_fence(0, win);
    MPI_Compare_and_swap(&desired, &expected, &found, MPI_LONG, rank, 0, win);
    MPI_Win_fence(0, win);
    int const bad = memory != 7 || found != 5;
    if (bad) printf("BUG: rank %d has %ld and got %ld, expected 7 and 5\n", rank, memory, found);
    else if (rank == 0) puts("OK");
    MPI_Win_free(&win);
    MPI_Finalize();
    return bad;
}
