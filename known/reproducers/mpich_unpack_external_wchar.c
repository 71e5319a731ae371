/* MPICH: canonical packing and unpacking of MPI_WCHAR ends the process.
 *
 * build: mpicc mpich_unpack_external_wchar.c -o unpack_external     run: mpiexec -n 1 ./unpack_external
 * MPI-5.0 section 5.3: MPI_Unpack_external reads data in "external32"; section 14.5.2: an MPI_WCHAR takes 2 bytes, big-endian.
 * expected: the two characters.
 * observed: an assertion fails in MPI_Unpack_external; MPI_Pack_external does the same. Open MPI wants 4 bytes each and
 *   returns MPI_ERR_TRUNCATE (4.1.4 to 5.0.11).
 */
// run: np=1 timeout=10
#include <mpi.h>
#include <stdio.h>
#include <wchar.h>

int main(int argc, char** argv) {
    unsigned char packed[4] = {0, 'a', 0x20, 0xac};
    wchar_t text[2] = {0, 0};
    MPI_Aint position = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN); // that of calls without a communicator since MPI-4.0
    MPI_Unpack_external("external32", packed, 4, &position, text, 2, MPI_WCHAR);
    int const right = text[0] == 'a' && text[1] == 0x20ac && position == 4;
    printf("%s: %x %x, position %ld, expected 61 20ac, position 4\n", right ? "OK" : "BUG", (unsigned)text[0],
           (unsigned)text[1], (long)position);
    MPI_Finalize();
    return !right;
}
