/* MPICH before 5: MPI_Group_translate_ranks gives MPI_UNDEFINED for MPI_PROC_NULL when the second group is empty.
 *
 * build: mpicc mpich_translate_proc_null.c -o mpich_translate_proc_null        run: mpiexec -n 1 ./mpich_translate_proc_null
 * MPI-5.0 section 7.3.1: MPI_PROC_NULL is a valid rank for input, which returns MPI_PROC_NULL as the translated rank.
 * expected: MPI_PROC_NULL.
 * observed: MPI_UNDEFINED.
 */
// run: np=1 timeout=10
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    int const in = MPI_PROC_NULL;
    int out = 7;
    MPI_Group world;
    MPI_Init(&argc, &argv);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_translate_ranks(world, 1, &in, MPI_GROUP_EMPTY, &out);
    printf("%s: %d, expected %d (MPI_UNDEFINED is %d)\n", out == MPI_PROC_NULL ? "OK" : "BUG", out, MPI_PROC_NULL,
           MPI_UNDEFINED);
    MPI_Group_free(&world);
    MPI_Finalize();
    return out != MPI_PROC_NULL;
}
