/* Open MPI: MPI_Win_detach of a region of no bytes fails.
 *
 * build: mpicc openmpi_detach_no_bytes.c -o detach_no_bytes        run: mpiexec -n 2 ./detach_no_bytes
 * MPI-5.0 section 12.2.4: the size given to MPI_Win_attach is a nonnegative integer; MPI_Win_detach detaches a region that was
 *   attached.
 * expected: MPI_SUCCESS from both.
 * observed: MPI_Win_detach returns an error.
 */
// run: np=2 timeout=20
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    int rank, nothing = 0, attached, detached, wrong;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    attached = MPI_Win_attach(win, &nothing, 0);
    detached = MPI_Win_detach(win, &nothing);
    wrong = attached != MPI_SUCCESS || detached != MPI_SUCCESS;
    if (wrong) printf("BUG: rank %d: MPI_Win_attach returns %d, MPI_Win_detach %d\n", rank, attached, detached);
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_LOR, MPI_COMM_WORLD);
    if (!wrong && rank == 0) puts("OK");
    MPI_Win_free(&win);
    MPI_Finalize();
    return wrong;
}
