/* The error field of a status is set by calls that return MPI_SUCCESS.
 *
 * build: mpicc error_field.c -o error_field        run: mpiexec -n 1 ./error_field
 * MPI-5.0 section 3.2.5: the field may be updated only by procedures that return several statuses, if and only if they return
 *   MPI_ERR_IN_STATUS.
 * expected: MPI_Sendrecv_replace, MPI_Probe, MPI_Waitall, MPI_Testall, MPI_Waitsome and MPI_Testsome leave the field as it was.
 * observed: MPI_Waitall, MPI_Sendrecv_replace and MPI_Probe (MPICH), MPI_Waitall and MPI_Sendrecv_replace (Intel MPI), the
 *   four calls for lists (Open MPI) set it to MPI_SUCCESS.
 */
// run: np=1 timeout=20
#include <mpi.h>
#include <stdio.h>

enum { untouched = -77 };
static int wrong = 0;
static void look(char const* call, MPI_Status const* status) {
    if (status->MPI_ERROR != untouched) printf("BUG: %s sets MPI_ERROR to %d\n", call, status->MPI_ERROR), wrong = 1;
}

int main(int argc, char** argv) {
    int in = 0, out = 5, flag, n, index, call;
    MPI_Request both[2];
    MPI_Status statuses[2];
    MPI_Init(&argc, &argv);
    statuses[0].MPI_ERROR = untouched;
    MPI_Sendrecv_replace(&in, 1, MPI_INT, 0, 0, 0, 0, MPI_COMM_SELF, &statuses[0]);
    look("MPI_Sendrecv_replace", &statuses[0]);
    statuses[0].MPI_ERROR = untouched;
    MPI_Isend(&out, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &both[0]);
    MPI_Probe(0, 0, MPI_COMM_SELF, &statuses[0]);
    MPI_Recv(&in, 1, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    MPI_Wait(&both[0], MPI_STATUS_IGNORE);
    look("MPI_Probe", &statuses[0]);
    for (call = 0; call < 4; ++call) {
        MPI_Irecv(&in, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &both[0]);
        MPI_Isend(&out, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &both[1]);
        statuses[0].MPI_ERROR = statuses[1].MPI_ERROR = untouched;
        flag = n = 0;
        if (call == 0) MPI_Waitall(2, both, statuses);
        while (call == 1 && !flag) MPI_Testall(2, both, &flag, statuses);
        if (call == 2) MPI_Waitsome(1, both, &n, &index, statuses);
        while (call == 3 && n <= 0) MPI_Testsome(1, both, &n, &index, statuses);
        if (call > 1) MPI_Wait(&both[1], MPI_STATUS_IGNORE);
        look(call == 0   ? "MPI_Waitall"
             : call == 1 ? "MPI_Testall"
             : call == 2 ? "MPI_Waitsome"
                         : "MPI_Testsome",
             &statuses[0]);
    }
    if (!wrong) puts("OK");
    MPI_Finalize();
    return wrong;
}
