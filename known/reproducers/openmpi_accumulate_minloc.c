/* Open MPI: MPI_Accumulate with MPI_MINLOC of several pairs with padding is wrong.
 *
 * build: mpicc openmpi_accumulate_minloc.c -o accumulate_minloc     run: mpiexec -n 2 ./accumulate_minloc  (or more ranks)
 * MPI-5.0 section 12.3.4.1: accumulate combines each element; MPI_DOUBLE_INT is {double; int} (section 6.9.4).
 * expected: in every pair the smaller value with its index is left: {i - 0.5, 1000 + i} for odd i, {i, i} for even i.
 * observed: pairs are mixed up (Open MPI 5.0.11).
 */
// run: np=2 timeout=20
#include <mpi.h>
#include <stdio.h>

enum { N = 85 };
struct pair {
    double value;
    int index;
};

int main(int argc, char** argv) {
    static struct pair memory[N], given[N];
    int rank, size, wrong = 0;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Win_create(memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    for (int i = 0; i < N; ++i) {
        memory[i].value = memory[i].index = i;
        given[i].value = i % 2 ? i - 0.5 : i + 0.5;
        given[i].index = 1000 + i;
    }
    MPI_Win_fence(0, win);
    MPI_Accumulate(given, N, MPI_DOUBLE_INT, (rank + 1) % size, 0, N, MPI_DOUBLE_INT, MPI_MINLOC, win);
    MPI_Win_fence(0, win);
    for (int i = N - 1; i >= 0; --i)
        if (memory[i].value != (i % 2 ? i - 0.5 : i) || memory[i].index != (i % 2 ? 1000 + i : i)) wrong = i + 1;
    if (wrong) printf("BUG: pair %d is {%g, %d}\n", wrong - 1, memory[wrong - 1].value, memory[wrong - 1].index);
    else puts("OK");
    MPI_Win_free(&win);
    MPI_Finalize();
    return wrong != 0;
}
