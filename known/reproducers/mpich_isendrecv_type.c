/* MPICH 4.0: MPI_Isendrecv frees the datatype of its caller.
 *
 * build: mpicc mpich_isendrecv_type.c -o isendrecv_type     run: mpiexec -n 1 ./isendrecv_type
 * MPI-5.0 section 3.7.2: MPI_Isendrecv is a send and a receive, which leave their datatypes as they are; section 5.1.9:
 *   a datatype is freed by MPI_Type_free.
 * expected: the size of the datatype is 12 before and after, and it can be used again.
 * observed: MPI_Type_size gives MPI_UNDEFINED or an error: a reference too many is given back when the request completes;
 *   the next use of the datatype crashes.
 */
// run: np=1 timeout=10
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    int out[6] = {1, 2, 3, 4, 5, 6}, in[6] = {0}, before = -1, after = -1;
    MPI_Datatype type;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Type_vector(3, 1, 2, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Type_size(type, &before);
    MPI_Isendrecv(out, 1, type, 0, 0, in, 1, type, 0, 0, MPI_COMM_SELF, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Type_size(type, &after);
    int const bad = before != 12 || after != 12;
    printf("%s: size %d before and %d after MPI_Isendrecv (MPI_UNDEFINED is %d)\n", bad ? "BUG" : "OK", before, after,
           MPI_UNDEFINED);
    fflush(stdout);
    if (!bad) MPI_Type_free(&type);
    MPI_Finalize();
    return bad;
}
