/* MPICH: MPI_Isendrecv_replace sends wrong data when the datatype has gaps.
 *
 * build: mpicc mpich_isendrecv_replace.c -o replace          run: mpiexec -n 2 ./replace
 * MPI-5.0 section 3.7.2: the same buffer is used for the send and for the receive, and the message received takes the place of
 *   the one that was sent.
 * expected: after the exchange each rank holds the other's four ints, at every second place.
 * observed: the library packs the ints into a buffer of its own and then sends that buffer with the original datatype
 *   instead of MPI_PACKED: every second packed int is lost, and what lies after the buffer is sent.
 */
// run: np=2 timeout=20
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    enum { n = 4 };
    int data[2 * n], rank, broken = 0;
    MPI_Datatype type;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int const peer = 1 - rank;
    for (int k = 0; k < 2 * n; ++k) data[k] = k % 2 ? -1 : 100 * (rank + 1) + k / 2;
    MPI_Type_vector(n, 1, 2, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Isendrecv_replace(data, 1, type, peer, 0, peer, 0, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int k = 0; k < 2 * n; ++k) {
        int const expected = k % 2 ? -1 : 100 * (peer + 1) + k / 2;
        if (data[k] == expected) continue;
        if (rank == 0) printf("rank 0: int %d is %d, expected %d\n", k, data[k], expected);
        ++broken;
    }
    printf("%s: rank %d: %d of %d ints wrong\n", broken ? "BUG" : "OK", rank, broken, 2 * n);
    MPI_Type_free(&type);
    MPI_Finalize();
    return broken != 0;
}
