/* Open MPI: MPI_Group_from_session_pset with the name of a process set that does not exist.
 *
 * build: mpicc openmpi_group_from_no_pset.c -o group_from_no_pset     run: mpiexec -n 1 ./group_from_no_pset
 * MPI-5.0 section 7.3.2: if the pset_name is not considered valid, MPI_GROUP_NULL is returned in newgroup.
 * expected: MPI_GROUP_NULL.
 * observed: another handle (Open MPI 5.0.11).
 */
// run: np=1 timeout=20
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    int wrong;
    MPI_Group group = MPI_GROUP_EMPTY;
    MPI_Session session;
    MPI_Init(&argc, &argv); /* the handlers are for libraries that do not heed that of the session */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    MPI_Group_from_session_pset(session, "no://such/set", &group);
    wrong = group != MPI_GROUP_NULL;
    puts(wrong ? "BUG: the group is not MPI_GROUP_NULL" : "OK");
    MPI_Session_finalize(&session);
    MPI_Finalize();
    return wrong;
}
