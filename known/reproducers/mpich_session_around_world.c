/* MPICH 4.0: MPI_Init within a session ends the process where several processes share memory.
 *
 * build: mpicc mpich_session_around_world.c -o mpich_session_around_world        run: mpiexec -n 4 ./mpich_session_around_world
 * MPI-5.0 sections 11.3, 11.1: the World Model and the Sessions Model may be used in the same program, at the same time.
 * expected: MPI_Init returns.
 * observed: "Assertion failed in file … ch4_progress.h".
 */
// run: np=4 timeout=20
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    int rank;
    MPI_Session session;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) printf("OK\n");
    fflush(stdout);
    MPI_Finalize();
    MPI_Session_finalize(&session);
    return 0;
}
