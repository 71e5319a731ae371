/* Open MPI: MPI_Group_translate_ranks of MPI_PROC_NULL with an empty group.
 *
 * build: mpicc group_translate_empty.c -o group_translate_empty     run: mpiexec -n 1 ./group_translate_empty
 * MPI-5.0 section 7.3.1: MPI_PROC_NULL is a valid rank for input, the translated rank is MPI_PROC_NULL.
 * expected: MPI_PROC_NULL from and to MPI_GROUP_EMPTY.
 * observed: MPI_UNDEFINED from and to it (Open MPI 4.1.4 to 5.0.11), or to it (MPICH 4.0 to 4.3, Intel MPI).
 */
// run: np=1 timeout=20
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    int none = MPI_PROC_NULL, from = -7, to = -7, wrong;
    MPI_Group group;
    MPI_Init(&argc, &argv);
    MPI_Comm_group(MPI_COMM_WORLD, &group);
    MPI_Group_translate_ranks(MPI_GROUP_EMPTY, 1, &none, group, &from);
    MPI_Group_translate_ranks(group, 1, &none, MPI_GROUP_EMPTY, &to);
    wrong = from != MPI_PROC_NULL || to != MPI_PROC_NULL;
    if (wrong) printf("BUG: from an empty group %d, to an empty group %d, expected %d\n", from, to, MPI_PROC_NULL);
    else puts("OK");
    MPI_Group_free(&group);
    MPI_Finalize();
    return wrong;
}
