/* MPICH 4.0: MPI_Testany of inactive persistent requests does not touch the status.
 *
 * build: mpicc mpich_testany_inactive.c -o mpich_testany_inactive        run: mpiexec -n 1 ./mpich_testany_inactive
 * MPI-5.0 section 3.7.5: if the array has no active handles, the call returns flag = true, index = MPI_UNDEFINED and an empty
 *   status.
 * expected: source MPI_ANY_SOURCE, tag MPI_ANY_TAG.
 * observed: the status is what it was before.
 */
// run: np=1 timeout=10
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    int data[2], index = 7, flag = 7;
    MPI_Request requests[2];
    MPI_Status status;
    MPI_Init(&argc, &argv);
    for (int i = 0; i < 2; ++i) MPI_Recv_init(&data[i], 1, MPI_INT, 0, i, MPI_COMM_SELF, &requests[i]);
    status.MPI_SOURCE = status.MPI_TAG = 77;
    MPI_Testany(2, requests, &index, &flag, &status);
    int const bug =
        !flag || index != MPI_UNDEFINED || status.MPI_SOURCE != MPI_ANY_SOURCE || status.MPI_TAG != MPI_ANY_TAG;
    printf("%s: flag %d, index %d, source %d, tag %d; expected 1, %d, %d, %d\n", bug ? "BUG" : "OK", flag, index,
           status.MPI_SOURCE, status.MPI_TAG, MPI_UNDEFINED, MPI_ANY_SOURCE, MPI_ANY_TAG);
    for (int i = 0; i < 2; ++i) MPI_Request_free(&requests[i]);
    MPI_Finalize();
    return bug;
}
