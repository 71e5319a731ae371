/* MPICH 4.0: MPI_Isendrecv and MPI_Isendrecv_replace with MPI_PROC_NULL.
 *
 * build: mpicc mpich_isendrecv_proc_null.c -o isendrecv_proc_null        run: mpiexec -n 1 ./isendrecv_proc_null
 * MPI-5.0 section 3.10: a communication with MPI_PROC_NULL has no effect and succeeds as soon as possible.
 * expected: the request completes.
 * observed: a segmentation fault, or the request never completes (MPICH 4.0.2).
 */
// run: np=1 timeout=10
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    int out = 1, in = 2;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Isendrecv(&out, 1, MPI_INT, MPI_PROC_NULL, 0, &in, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Isendrecv_replace(&in, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    puts(in == 2 ? "OK" : "BUG: something was received");
    MPI_Finalize();
    return in != 2;
}
