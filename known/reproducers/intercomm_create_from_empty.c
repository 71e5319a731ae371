/* MPICH 4.0, Open MPI: MPI_Intercomm_create_from_groups of empty groups crashes.
 *
 * build: mpicc intercomm_create_from_empty.c -o from_empty     run: mpiexec -n 1 ./from_empty
 * MPI-5.0 section 7.6.2: where MPI_GROUP_EMPTY is local_group or remote_group or both, the call is local and gives
 *   MPI_COMM_NULL.
 * expected: MPI_COMM_NULL.
 * observed: a segmentation fault (MPICH 4.0.2, 4.0.3, Open MPI 5.0.11).
 */
// run: np=1 timeout=20
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    int wrong;
    MPI_Comm made = MPI_COMM_WORLD;
    MPI_Init(&argc, &argv);
    MPI_Intercomm_create_from_groups(MPI_GROUP_EMPTY, 0, MPI_GROUP_EMPTY, 0, "a", MPI_INFO_NULL, MPI_ERRORS_RETURN,
                                     &made);
    wrong = made != MPI_COMM_NULL;
    puts(wrong ? "BUG: the new communicator is not MPI_COMM_NULL" : "OK");
    MPI_Finalize();
    return wrong;
}
