/* Intel MPI: MPI_Unpack_external of no elements ends the process.
 *
 * build: mpicc intel_unpack_external_nothing.c -o nothing           run: mpiexec -n 1 ./nothing
 * MPI-5.0 sections 5.2, 5.3: the output buffer is any that MPI_Recv may have, also one of no elements (3.2.2, 3.2.4).
 * expected: nothing is unpacked.
 * observed: an assertion fails, "Unhandled conversion of unequal size", for MPI_WCHAR and, now and then, a contiguous datatype
 *   and others.
 */
// run: np=1 timeout=10
#include <mpi.h>
#include <stdio.h>
#include <wchar.h>

int main(int argc, char** argv) {
    char in[5] = {0};
    int out[4] = {-1, -1, -1, -1};
    MPI_Aint position = 5;
    MPI_Datatype type;
    wchar_t wide[2] = {L'-', L'-'};
    MPI_Init(&argc, &argv);
    MPI_Type_contiguous(2, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Unpack_external("external32", in, sizeof in, &position, out, 0, type);
    MPI_Unpack_external("external32", in, sizeof in, &position, wide, 0, MPI_WCHAR);
    int const wrong = position != 5 || out[0] != -1 || wide[0] != L'-';
    printf("%s: position %ld, expected 5\n", wrong ? "BUG" : "OK", (long)position);
    MPI_Type_free(&type);
    MPI_Finalize();
    return wrong;
}
