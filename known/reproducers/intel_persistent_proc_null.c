/* Intel MPI: MPI_Waitany names a persistent request to MPI_PROC_NULL again after it has completed.
 *
 * build: mpicc intel_persistent_proc_null.c -o proc_null     run: mpiexec -n 1 ./proc_null
 * MPI-5.0 section 3.7.5: MPI_Waitany returns the index of an active request that completed; a persistent request is
 *   inactive from then on (section 3.9), and inactive ones are passed over.
 * expected: two started requests, two calls of MPI_Waitany: two different indices, then MPI_UNDEFINED.
 * observed: the same index again and again (Intel MPI); MPI_UNDEFINED at once (MPICH, see mpich_persistent_proc_null.c).
 */
// run: np=1 timeout=10
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    int data = 0, index[3] = {-7, -7, -7};
    MPI_Request requests[2];
    MPI_Init(&argc, &argv);
    for (int i = 0; i < 2; ++i) MPI_Send_init(&data, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_SELF, &requests[i]);
    MPI_Startall(2, requests);
    for (int call = 0; call < 3; ++call) MPI_Waitany(2, requests, &index[call], MPI_STATUS_IGNORE);
    int const broken = index[0] != MPI_UNDEFINED && (index[0] == index[1] || index[2] != MPI_UNDEFINED);
    printf("%s: MPI_Waitany gives %d, %d, %d; expected 0 and 1 in any order, then MPI_UNDEFINED (%d)\n",
           broken ? "BUG" : "OK", index[0], index[1], index[2], MPI_UNDEFINED);
    for (int i = 0; i < 2; ++i) MPI_Request_free(&requests[i]);
    MPI_Finalize();
    return broken;
}
