/* Open MPI: MPI_Comm_create_group copies attributes.
 *
 * build: mpicc openmpi_create_group_attributes.c -o create_group_attributes     run: mpiexec -n 2 ./create_group_attributes
 * MPI-5.0 section 7.4.2: no cached information propagates from comm to newcomm.
 * expected: the new communicator has no attribute.
 * observed: it has that of the old one (Open MPI 4.1.4 to 5.0.11).
 */
// run: np=2 timeout=20
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    int rank, key, flag = -7, value = 1, *got;
    MPI_Comm old, made;
    MPI_Group group;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &old);
    MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    MPI_Comm_set_attr(old, key, &value);
    MPI_Comm_group(old, &group);
    MPI_Comm_create_group(old, group, 0, &made);
    MPI_Comm_get_attr(made, key, &got, &flag);
    if (flag) puts("BUG: a communicator of MPI_Comm_create_group has an attribute of the old one");
    else if (rank == 0) puts("OK");
    MPI_Group_free(&group);
    MPI_Comm_free(&made);
    MPI_Comm_free(&old);
    MPI_Comm_free_keyval(&key);
    MPI_Finalize();
    return flag;
}
