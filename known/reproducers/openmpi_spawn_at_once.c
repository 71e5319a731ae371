/* Open MPI 4.1: when two processes spawn at the same time, each its own children, the spawn now and then does not return.
 *
 * build: mpicc openmpi_spawn_at_once.c -o at_once      run: mpiexec -n 2 --oversubscribe ./at_once
 * MPI-5.0 section 11.8.2: MPI_Comm_spawn is collective over its communicator, which is MPI_COMM_SELF here, so neither process waits for
 *   the other, and it does not return before its children have called MPI_Init.
 * expected: OK.
 * observed: a hang of one process or of both, PMIx_Lookup is never answered; with one process alone never (Open MPI 4.1.4, Debian).
 */
// run: np=2 timeout=25 runs=3
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
    enum { rounds = 10 };
    int rank, error;
    MPI_Comm parent, other;
    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        MPI_Comm_disconnect(&parent);
        MPI_Finalize();
        return 0;
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    int const cannot = getenv("I_MPI_ROOT") && !getenv("I_MPI_SPAWN"); // Intel MPI ends the job then
    for (int k = 0; k < rounds; ++k) {
        MPI_Barrier(MPI_COMM_WORLD);
        error = cannot ||
                MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_SELF, &other, MPI_ERRCODES_IGNORE);
        if (error) {
            puts("N/A: no process can be spawned here");
            MPI_Abort(MPI_COMM_WORLD, 0);
        }
        MPI_Comm_disconnect(&other);
    }
    if (rank == 0) puts("OK");
    MPI_Finalize();
    return 0;
}
