/* Intel MPI: MPI_Unpack_external of no elements ends the process.
 *
 * build: mpicc intel_unpack_external_nothing.c -o nothing           run: mpiexec -n 1 ./nothing
 * MPI-5.0 sections 5.2, 5.3: the output buffer is any that MPI_Recv may have, also one of no elements (3.2.2, 3.2.4).
 * expected: nothing is unpacked.
 * observed: an assertion fails, "Unhandled conversion of unequal size", for a contiguous datatype and others; not on all
 *   machines.
 */
// run: np=1 timeout=10 by=processor
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    char in[5] = {0};
    int out[4] = {-1, -1, -1, -1};
    MPI_Aint position = 5;
    MPI_Datatype type;
    MPI_Init(&argc, &argv);
    MPI_Type_contiguous(2, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Unpack_external("external32", in, sizeof in, &position, out, 0, type);
    int const wrong = position != 5 || out[0] != -1;
    printf("%s: position %ld, expected 5\n", wrong ? "BUG" : "OK", (long)position);
    MPI_Type_free(&type);
    MPI_Finalize();
    return wrong;
}
