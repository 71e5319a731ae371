/* MPICH: the value of a pair is lost when a message ends after it.
 *
 * build: mpicc mpich_partial_pair.c -o partial_pair     run: mpiexec -n 1 ./partial_pair
 * MPI-5.0 section 5.1.11: any number of basic elements may be received, also a part of a datatype's; section 6.9.4: MPI_DOUBLE_INT is
 *   as if made by MPI_Type_create_struct of MPI_DOUBLE and MPI_INT.
 * expected: the double arrives.
 * observed: the receive buffer is as it was.
 */
// run: np=1 timeout=10
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    struct {
        double value;
        int index;
    } in[4] = {{-1, -1}, {-1, -1}, {-1, -1}, {-1, -1}};
    double const out = 2.5;
    MPI_Datatype pairs;
    MPI_Init(&argc, &argv);
    MPI_Type_contiguous(2, MPI_DOUBLE_INT, &pairs);
    MPI_Type_commit(&pairs);
    MPI_Sendrecv(&out, 1, MPI_DOUBLE, 0, 0, in, 2, pairs, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    int const right = in[0].value == 2.5 && in[0].index == -1;
    printf("%s: {%g, %d}, expected {2.5, -1}\n", right ? "OK" : "BUG", in[0].value, in[0].index);
    MPI_Type_free(&pairs);
    MPI_Finalize();
    return !right;
}
