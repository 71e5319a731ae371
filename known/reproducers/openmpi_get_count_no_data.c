/* Open MPI: MPI_Get_count with a datatype without data.
 *
 * build: mpicc openmpi_get_count_no_data.c -o get_count_no_data     run: mpiexec -n 1 ./get_count_no_data
 * MPI-5.0 section 3.2.5: for a datatype of size zero the count is zero if no bytes were transferred; if some were,
 *   MPI_UNDEFINED is returned.
 * expected: MPI_UNDEFINED after a message of 4 bytes.
 * observed: 0 (Open MPI 4.1.4 to 5.0.11).
 */
// run: np=1 timeout=20
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    int out = 1, in, count = -7, wrong;
    MPI_Datatype nothing;
    MPI_Status status;
    MPI_Init(&argc, &argv);
    MPI_Type_contiguous(0, MPI_INT, &nothing);
    MPI_Type_commit(&nothing);
    MPI_Sendrecv(&out, 1, MPI_INT, 0, 0, &in, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &status);
    MPI_Get_count(&status, nothing, &count);
    wrong = count != MPI_UNDEFINED;
    if (wrong) printf("BUG: the count is %d, expected %d\n", count, MPI_UNDEFINED);
    else puts("OK");
    MPI_Type_free(&nothing);
    MPI_Finalize();
    return wrong;
}
