/* MPICH: MPI_Reduce_scatter with MPI_IN_PLACE aborts when a block is larger than those before it.
 *
 * build: mpicc mpich_reduce_scatter_overlap.c -o mpich_reduce_scatter_overlap
 * run: mpiexec -n 4 ./mpich_reduce_scatter_overlap
 * MPI-5.0 section 6.10.2: with MPI_IN_PLACE the input is taken from the receive buffer and replaced by the output;
 *   recvcounts may differ.
 * expected: each process gets its block of the sums at the beginning of its buffer.
 * observed: for large blocks the library copies a block over itself: an assertion fails, or data is wrong.
 */
// run: np=4 timeout=30
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void died(int number) {
    (void)number;
    static char const text[] = "BUG: the process was aborted in MPI_Reduce_scatter\n";
    (void)!write(1, text, sizeof text - 1);
    _exit(1);
}
static void left(void) { died(0); }

int main(int argc, char** argv) {
    int rank, size, counts[64], total = 0, before = 0, wrong = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < size; ++i) {
        counts[i] = 50000 * (i + 1);
        if (i < rank) before += counts[i];
        total += counts[i];
    }
    int* data = malloc(sizeof(int) * (size_t)total);
    for (int i = 0; i < total; ++i) data[i] = i + rank;
    signal(SIGABRT, died);
    atexit(left);
    MPI_Reduce_scatter(MPI_IN_PLACE, data, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < counts[rank]; ++i) wrong += data[i] != size * (before + i) + size * (size - 1) / 2;
    printf("%s: rank %d: %d elements are wrong\n", wrong ? "BUG" : "OK", rank, wrong);
    fflush(stdout);
    MPI_Finalize();
    _exit(wrong != 0);
}
