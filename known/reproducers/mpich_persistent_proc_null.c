/* MPICH: a started persistent request to or from MPI_PROC_NULL counts as inactive.
 *
 * build: mpicc mpich_persistent_proc_null.c -o proc_null     run: mpiexec -n 1 ./proc_null
 * MPI-5.0 section 3.9: a request becomes active by MPI_Start; section 3.7.5: MPI_Waitany gives MPI_UNDEFINED only when
 *   no request is active; section 3.10: a receive from MPI_PROC_NULL ends with source MPI_PROC_NULL, tag MPI_ANY_TAG.
 * expected: MPI_Waitany, MPI_Waitsome, MPI_Testany and MPI_Testsome name the request; MPI_Wait gives source MPI_PROC_NULL, as
 *   for MPI_Irecv.
 * observed: MPI_UNDEFINED, and the empty status (source MPI_ANY_SOURCE).
 */
// run: np=1 timeout=10
#include <mpi.h>
#include <stdio.h>

static int broken = 0;

static void expect(char const* what, int got, int expected) {
    if (got == expected) return;
    printf("%s is %d, expected %d\n", what, got, expected);
    ++broken;
}

int main(int argc, char** argv) {
    int data = 0, index = -7, count = -7, flag = 0, indices[1] = {-7};
    MPI_Request request;
    MPI_Status status;
    MPI_Init(&argc, &argv);
    printf("MPI_UNDEFINED %d, MPI_PROC_NULL %d, MPI_ANY_SOURCE %d\n", MPI_UNDEFINED, MPI_PROC_NULL, MPI_ANY_SOURCE);

    MPI_Irecv(&data, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_SELF, &request);
    MPI_Wait(&request, &status);
    expect("MPI_Irecv: source", status.MPI_SOURCE, MPI_PROC_NULL);

    MPI_Recv_init(&data, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_SELF, &request);
    MPI_Start(&request);
    MPI_Wait(&request, &status);
    expect("MPI_Recv_init: source after MPI_Wait", status.MPI_SOURCE, MPI_PROC_NULL);
    MPI_Start(&request);
    MPI_Waitany(1, &request, &index, &status);
    expect("MPI_Recv_init: index of MPI_Waitany", index, 0);
    MPI_Request_free(&request);

    MPI_Send_init(&data, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_SELF, &request);
    MPI_Start(&request);
    MPI_Waitany(1, &request, &index, &status);
    expect("MPI_Send_init: index of MPI_Waitany", index, 0);
    MPI_Start(&request);
    MPI_Waitsome(1, &request, &count, indices, &status);
    expect("MPI_Send_init: outcount of MPI_Waitsome", count, 1);
    MPI_Start(&request);
    while (!flag) MPI_Testany(1, &request, &index, &flag, &status);
    expect("MPI_Send_init: index of MPI_Testany", index, 0);
    MPI_Start(&request);
    for (count = 0; count == 0;) MPI_Testsome(1, &request, &count, indices, &status);
    expect("MPI_Send_init: outcount of MPI_Testsome", count, 1);
    MPI_Request_free(&request);

    printf("%s: %d answers wrong\n", broken ? "BUG" : "OK", broken);
    MPI_Finalize();
    return broken != 0;
}
