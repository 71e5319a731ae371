/* MPICH: MPI_Wait on the request of an MPI_Rget into a datatype with gaps returns before the data are there.
 *
 * build: mpicc mpich_rget_vector.c -o rget_vector        run: mpiexec -n 2 ./rget_vector
 * MPI-5.0 section 12.3.5: the completion of an MPI_Rget indicates that the data is available in the origin buffer.
 * expected: all 1000 integers are there.
 * observed: none, or some (MPICH 4.0.2).
 */
// run: np=2 timeout=20
#include <mpi.h>
#include <stdio.h>

enum { n = 1000, rounds = 20 };
static int memory[2 * n], got[2 * n];

int main(int argc, char** argv) {
    int rank, wrong = 0;
    MPI_Datatype gaps;
    MPI_Request request;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Type_vector(n, 1, 2, MPI_INT, &gaps);
    MPI_Type_commit(&gaps);
    for (int i = 0; i < 2 * n; ++i) memory[i] = 1 + i;
    MPI_Win_create(memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    for (int round = 0; round < rounds; ++round) {
        for (int i = 0; i < 2 * n; ++i) got[i] = 0;
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Win_lock(MPI_LOCK_SHARED, 1 - rank, 0, win);
        MPI_Rget(got, 1, gaps, 1 - rank, 0, 1, gaps, win, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        for (int i = 0; i < 2 * n; i += 2) wrong += got[i] != 1 + i;
        MPI_Win_unlock(1 - rank, win);
    }
    if (wrong) printf("BUG: rank %d: %d of %d elements are wrong after MPI_Wait\n", rank, wrong, rounds * n);
    else if (rank == 0) puts("OK");
    fflush(stdout);
    MPI_Win_free(&win);
    MPI_Type_free(&gaps);
    MPI_Finalize();
    return wrong != 0;
}
