/* MPICH 4.0: MPI_Test and MPI_Wait take a persistent collective operation that was never started for one that is under way.
 *
 * build: mpicc mpich_persistent_collective_inactive.c -o inactive        run: mpiexec -n 1 ./inactive
 * MPI-5.0 sections 6.13, 3.7.3: the request is inactive when it is initialized; MPI_Test of an inactive request returns
 *   flag = true and MPI_Wait returns at once.
 * expected: flag 1.
 * observed: flag 0; MPI_Wait never returns.
 */
// run: np=1 timeout=10
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    int data = 0, flag = -1;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Bcast_init(&data, 1, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    printf("%s: flag is %d, expected 1\n", flag == 1 ? "OK" : "BUG", flag);
    if (flag == 1) MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
    MPI_Finalize();
    return flag != 1;
}
