/* MPICH 4.0: a nonblocking receive from MPI_PROC_NULL gives a status of zeros.
 *
 * build: mpicc mpich_recv_proc_null.c -o recv_null           run: mpiexec -n 1 ./recv_null
 * MPI-5.0 section 3.10: source MPI_PROC_NULL, tag MPI_ANY_TAG, count 0.
 * expected: exactly these, from MPI_Recv and from MPI_Irecv with MPI_Wait.
 * observed: source 0 and tag 0 after MPI_Irecv (pmodels/mpich issue 6805).
 */
// run: np=1 timeout=10
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    int data = 0, broken = 0;
    MPI_Request request;
    MPI_Status status[2];
    MPI_Init(&argc, &argv);
    MPI_Recv(&data, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_SELF, &status[0]);
    MPI_Irecv(&data, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_SELF, &request);
    MPI_Wait(&request, &status[1]);
    for (int k = 0; k < 2; ++k) {
        int count = -1;
        MPI_Get_count(&status[k], MPI_INT, &count);
        int const wrong = status[k].MPI_SOURCE != MPI_PROC_NULL || status[k].MPI_TAG != MPI_ANY_TAG || count != 0;
        printf("%s: source %d (MPI_PROC_NULL is %d), tag %d (MPI_ANY_TAG is %d), count %d\n",
               k ? "MPI_Irecv" : "MPI_Recv", status[k].MPI_SOURCE, MPI_PROC_NULL, status[k].MPI_TAG, MPI_ANY_TAG,
               count);
        broken |= wrong;
    }
    puts(broken ? "BUG" : "OK");
    MPI_Finalize();
    return broken;
}
