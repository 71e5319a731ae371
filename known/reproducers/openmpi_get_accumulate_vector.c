/* Open MPI: MPI_Get_accumulate does not fetch into a result buffer with gaps.
 *
 * build: mpicc openmpi_get_accumulate_vector.c -o get_accumulate_vector        run: mpiexec -n 2 ./get_accumulate_vector
 * MPI-5.0 section 12.3.4.2: the content of the target before the update is returned in the result buffer, which is described
 *   by any datatype of one predefined type.
 * expected: 4 integers arrive in every other word.
 * observed: zeros or other values (Open MPI 4.1.4).
 */
// run: np=2 timeout=20
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    enum { n = 4 };
    int rank, memory[2 * n], origin[2 * n], result[2 * n], wrong = 0;
    MPI_Datatype gaps;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Type_vector(n, 1, 2, MPI_INT, &gaps);
    MPI_Type_commit(&gaps);
    for (int i = 0; i < 2 * n; ++i) memory[i] = 100 * rank + i, origin[i] = 1000 + i, result[i] = -1;
    MPI_Win_create(memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_fence(0, win);
    MPI_Get_accumulate(origin, 1, gaps, result, 1, gaps, 1 - rank, 0, 1, gaps, MPI_REPLACE, win);
    MPI_Win_fence(0, win);
    for (int i = 0; i < 2 * n; i += 2) wrong += result[i] != 100 * (1 - rank) + i;
    if (wrong) printf("BUG: rank %d: %d of %d elements are wrong, the first is %d\n", rank, wrong, n, result[0]);
    else if (rank == 0) puts("OK");
    MPI_Win_free(&win);
    MPI_Finalize();
    return wrong != 0;
}
