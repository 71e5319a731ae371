/* Open MPI: after MPI_Put of elements without data MPI_Win_fence does not return.
 *
 * build: mpicc openmpi_put_empty.c -o put_empty     run: mpiexec -n 2 ./put_empty
 * MPI-5.0 section 5.1.2: the count of MPI_Type_contiguous is a nonnegative integer, so that a datatype may hold no data; section
 *   12.3.1: a put of origin_count entries of such a type transfers nothing; section 12.5.1: MPI_Win_fence completes it.
 * expected: MPI_Win_fence returns.
 * observed: it does not (windows of MPI_Win_create, component rdma).
 */
// run: np=2 timeout=30
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static void late(int signal) {
    (void)signal;
    static char const text[] = "BUG: MPI_Win_fence has not returned after 20 seconds\n";
    (void)!write(1, text, sizeof text - 1);
    _exit(1);
}

int main(int argc, char** argv) {
    int rank, memory[20] = {0}, data[20] = {0};
    MPI_Win win;
    MPI_Datatype empty;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Type_contiguous(0, MPI_INT, &empty);
    MPI_Type_commit(&empty);
    MPI_Win_create(memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    signal(SIGALRM, late);
    alarm(20);
    MPI_Win_fence(0, win);
    MPI_Put(data, 17, empty, 1 - rank, 0, 17, empty, win);
    MPI_Win_fence(0, win);
    alarm(0);
    if (rank == 0) puts("OK");
    MPI_Win_free(&win);
    MPI_Type_free(&empty);
    MPI_Finalize();
    return 0;
}
