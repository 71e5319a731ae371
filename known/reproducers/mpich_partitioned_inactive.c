/* MPICH 4.0: MPI_Test of an inactive partitioned receive does not give an empty status.
 *
 * build: mpicc mpich_partitioned_inactive.c -o mpich_partitioned_inactive        run: mpiexec -n 1 ./mpich_partitioned_inactive
 * MPI-5.0 section 3.7.3: MPI_Test with an inactive request returns flag = true and an empty status.
 * expected: source MPI_ANY_SOURCE, tag MPI_ANY_TAG.
 * observed: the source and tag of the operation.
 */
// run: np=1 timeout=10
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    int out = 0, in = 0, flag = -1;
    MPI_Request requests[2];
    MPI_Status status;
    MPI_Init(&argc, &argv);
    MPI_Psend_init(&out, 1, 1, MPI_INT, 0, 3, MPI_COMM_SELF, MPI_INFO_NULL, &requests[0]);
    MPI_Precv_init(&in, 1, 1, MPI_INT, 0, 3, MPI_COMM_SELF, MPI_INFO_NULL, &requests[1]);
    MPI_Test(&requests[1], &flag, &status);
    int const bug = flag != 1 || status.MPI_SOURCE != MPI_ANY_SOURCE || status.MPI_TAG != MPI_ANY_TAG;
    printf("%s: flag %d, source %d, tag %d; expected 1, %d, %d\n", bug ? "BUG" : "OK", flag, status.MPI_SOURCE,
           status.MPI_TAG, MPI_ANY_SOURCE, MPI_ANY_TAG);
    for (int i = 0; i < 2; ++i) MPI_Request_free(&requests[i]);
    MPI_Finalize();
    return bug;
}
