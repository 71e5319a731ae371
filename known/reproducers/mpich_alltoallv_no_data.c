/* MPI_Alltoallv without data and buffers is refused if it gets the same array for both kinds of counts.
 *
 * build: mpicc mpich_alltoallv_no_data.c -o empty       run: mpiexec -n 1 ./empty
 * MPI-5.0 section 6.8: with counts of 0 there is nothing to send or to receive, so there are no buffers that could
 *   overlap; the counts are arguments of intent IN, which may be the same array (section 2.3).
 * expected: MPI_SUCCESS.
 * observed: "Buffers must not be aliased"; with another array of the same zeros it succeeds (MPICH).
 */
// run: np=1 timeout=10
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    int const zero[1] = {0}, other[1] = {0};
    int same, different;
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    same = MPI_Alltoallv(NULL, zero, zero, MPI_INT, NULL, zero, zero, MPI_INT, MPI_COMM_WORLD);
    different = MPI_Alltoallv(NULL, zero, zero, MPI_INT, NULL, other, other, MPI_INT, MPI_COMM_WORLD);
    printf("%s: returned %d, with another array of zeros %d\n", same != MPI_SUCCESS ? "BUG" : "OK", same, different);
    MPI_Finalize();
    return same != MPI_SUCCESS;
}
