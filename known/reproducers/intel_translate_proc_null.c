/* Intel MPI: MPI_Group_translate_ranks of an empty group gives MPI_UNDEFINED for MPI_PROC_NULL.
 *
 * build: mpicc intel_translate_proc_null.c -o translate_proc_null           run: mpiexec -n 1 ./translate_proc_null
 * MPI-5.0 section 7.3.1: MPI_PROC_NULL is a valid rank for input, which returns MPI_PROC_NULL as the translated rank.
 * expected: MPI_PROC_NULL.
 * observed: MPI_UNDEFINED, when a group is empty.
 */
// run: np=1 timeout=10
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    int in = MPI_PROC_NULL, out[3] = {-7, -7, -7}, wrong = 0;
    MPI_Group world, empty = MPI_GROUP_EMPTY;
    MPI_Init(&argc, &argv);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_translate_ranks(empty, 1, &in, empty, &out[0]);
    MPI_Group_translate_ranks(empty, 1, &in, world, &out[1]);
    MPI_Group_translate_ranks(world, 1, &in, empty, &out[2]);
    for (int i = 0; i < 3; ++i) wrong += out[i] != MPI_PROC_NULL;
    printf("%s: %d %d %d, expected MPI_PROC_NULL (%d)\n", wrong ? "BUG" : "OK", out[0], out[1], out[2], MPI_PROC_NULL);
    MPI_Group_free(&world);
    MPI_Finalize();
    return wrong != 0;
}
