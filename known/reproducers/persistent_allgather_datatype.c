/* MPICH 4.0, Intel MPI: a persistent allgather gives its datatypes back once too often.
 *
 * build: mpicc persistent_allgather_datatype.c -o persistent_allgather_datatype
 * run:   mpiexec -n 2 ./persistent_allgather_datatype
 * MPI-5.0 section 6.13: completing a persistent operation leaves its request as it is; 5.1.9: a datatype stays until
 *   MPI_Type_free is called.
 * expected: the datatype has its 4 bytes still, when the operation was started twice and its request was freed.
 * observed: MPICH 4.0 ends the job with "Assertion failed … ref_count >= 0"; with Intel MPI the datatype is gone.
 */
// run: np=2 timeout=20
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    int rank, size = -1, one = 1, all[64];
    MPI_Datatype type;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN); // errors of MPI_Type_size are raised there (section 9.3)
    MPI_Type_contiguous(1, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Allgather_init(&one, 1, type, all, 1, type, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    for (int round = 0; round < 2; ++round) {
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&request);
    MPI_Type_size(type, &size);
    printf("%s: rank %d: the datatype has %d bytes\n", size == 4 ? "OK" : "BUG", rank, size);
    fflush(stdout);
    if (size != 4) MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Type_free(&type);
    MPI_Finalize();
    return 0;
}
