/* Open MPI: a partitioned receive whose datatype has another size than the sender's ignores the layout of its datatype.
 *
 * build: mpicc openmpi_partitioned_receiver_type.c -o receiver_type     run: mpiexec -n 1 ./receiver_type  (or more ranks)
 * Needs MPI-4.0; Open MPI 5 has the calls early.
 * MPI-5.0 section 4.2: partitioned operations match by the same amount of data; sender and receiver may use other partitions and
 *   datatypes as long as the type signatures agree (section 3.3.1). The receive buffer is laid out by the receiver's datatype.
 * expected: two ints, sent as MPI_INT and received as a vector of two ints with a gap between them: {1, gap, 2}.
 * observed: {1, 2, gap}: the ints lie next to each other (Open MPI 5.0.11).
 */
// run: np=1 timeout=10
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    int rank, size, out[2] = {1, 2}, in[3] = {-1, -1, -1};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Datatype two_with_gap;
    MPI_Type_vector(2, 1, 2, MPI_INT, &two_with_gap);
    MPI_Type_commit(&two_with_gap);
    MPI_Request requests[2];
    MPI_Precv_init(in, 1, 1, two_with_gap, (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
    MPI_Psend_init(out, 1, 2, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
    MPI_Startall(2, requests);
    MPI_Pready(0, requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    int const wrong = in[0] != 1 || in[1] != -1 || in[2] != 2;
    if (wrong) printf("BUG: received {%d, %d, %d}, expected {1, -1, 2}\n", in[0], in[1], in[2]);
    else puts("OK");
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    MPI_Type_free(&two_with_gap);
    MPI_Finalize();
    return wrong;
}
