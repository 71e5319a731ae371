/* Open MPI: partitioned messages whose receiver has another datatype than the sender.
 *
 * build: mpicc openmpi_partitioned_types.c -o partitioned_types      run: mpiexec -n 1 ./partitioned_types
 * Needs MPI-4.0.
 * MPI-5.0 section 4.2.3: the datatypes of both sides may differ, as long as the data of all partitions together has the
 *   same signature; what arrives is laid out by the receiver's datatype (section 3.3.1).
 * expected: {0, gap, 1, gap}: two ints, received as a vector.
 * observed: {0, 1, gap, gap}: they are received as if they were contiguous (Open MPI 5.0.11).
 */
// run: np=1 timeout=10
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    int out[2] = {0, 1}, in[4] = {-1, -1, -1, -1}, wrong = 0;
    int const expected[4] = {0, -1, 1, -1};
    MPI_Datatype vector;
    MPI_Request requests[2];
    MPI_Init(&argc, &argv);
    MPI_Type_vector(2, 1, 2, MPI_INT, &vector);
    MPI_Type_commit(&vector);
    MPI_Precv_init(in, 1, 1, vector, 0, 0, MPI_COMM_SELF, MPI_INFO_NULL, &requests[0]);
    MPI_Psend_init(out, 1, 2, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_INFO_NULL, &requests[1]);
    MPI_Startall(2, requests);
    MPI_Pready(0, requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 4; ++i) wrong |= in[i] != expected[i];
    if (wrong) printf("BUG: received {%d, %d, %d, %d}, expected {0, -1, 1, -1}\n", in[0], in[1], in[2], in[3]);
    else puts("OK");
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    MPI_Type_free(&vector);
    MPI_Finalize();
    return wrong;
}
