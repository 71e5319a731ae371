/* MPICH 4.0: MPI_Intercomm_create_from_groups of empty groups crashes.
 *
 * build: mpicc mpich_intercomm_from_empty.c -o mpich_intercomm_from_empty        run: mpiexec -n 1 ./mpich_intercomm_from_empty
 * MPI-5.0 section 7.6.2: with MPI_GROUP_EMPTY as local or remote group the call is local and returns MPI_COMM_NULL.
 * expected: MPI_COMM_NULL.
 * observed: SIGSEGV.
 */
// run: np=1 timeout=10
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    MPI_Comm made = MPI_COMM_WORLD;
    MPI_Init(&argc, &argv);
    MPI_Intercomm_create_from_groups(MPI_GROUP_EMPTY, 0, MPI_GROUP_EMPTY, 0, "empty", MPI_INFO_NULL, MPI_ERRORS_RETURN,
                                     &made);
    printf("%s\n", made == MPI_COMM_NULL ? "OK: MPI_COMM_NULL" : "BUG: not MPI_COMM_NULL");
    MPI_Finalize();
    return made != MPI_COMM_NULL;
}
