/* A receive with wildcards catches what belongs to MPI_Ialltoall on MPI_COMM_SELF.
 *
 * build: mpicc mpich_ialltoall_self_caught.c -o caught       run: mpiexec -n 1 ./caught
 * MPI-5.0 section 6.1: messages of collective operations are not matched by point-to-point receives.
 * expected: MPI_Ialltoall completes, the receive stays pending.
 * observed: the receive is complete, MPI_Ialltoall never is.
 */
// run: np=1 timeout=20
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    int in[4] = {0}, out = 1, other = 0, done = 0, caught = 0;
    double end;
    MPI_Request receive, operation;
    MPI_Init(&argc, &argv);
    MPI_Irecv(in, 4, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &receive);
    MPI_Ialltoall(&out, 1, MPI_INT, &other, 1, MPI_INT, MPI_COMM_SELF, &operation);
    for (end = MPI_Wtime() + 10; !done && !caught && MPI_Wtime() < end;) {
        MPI_Test(&operation, &done, MPI_STATUS_IGNORE);
        MPI_Request_get_status(receive, &caught, MPI_STATUS_IGNORE);
    }
    printf("%s: MPI_Ialltoall is %s, the receive is %s\n", done && !caught ? "OK" : "BUG",
           done ? "complete" : "not complete", caught ? "complete" : "pending");
    fflush(stdout);
    if (!done || caught) MPI_Abort(MPI_COMM_WORLD, 1); // the operation would never end
    MPI_Send(&out, 1, MPI_INT, 0, 9, MPI_COMM_SELF);
    MPI_Wait(&receive, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
