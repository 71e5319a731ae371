/* Open MPI: MPI_MAX and MPI_MIN compare MPI_OFFSET as if it had no sign.
 *
 * build: mpicc openmpi_offset_max.c -o offset_max        run: mpiexec -n 1 ./offset_max
 * MPI-5.0 section 14.4.3: an offset can be negative; section 6.9.2: MPI_MAX and MPI_MIN are defined for MPI_OFFSET.
 * expected: the maximum of -1 and 1 is 1, the minimum -1.
 * observed: -1 is taken for the greater one. MPI_AINT, MPI_COUNT and MPI_INT64_T are compared rightly.
 */
// run: np=1 timeout=20
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    MPI_Offset one = 1, high = -1, low = -1;
    MPI_Init(&argc, &argv);
    MPI_Reduce_local(&one, &high, 1, MPI_OFFSET, MPI_MAX);
    MPI_Reduce_local(&one, &low, 1, MPI_OFFSET, MPI_MIN);
    int const wrong = high != 1 || low != -1;
    printf("%s: of -1 and 1 MPI_MAX gives %lld, MPI_MIN %lld\n", wrong ? "BUG" : "OK", (long long)high, (long long)low);
    MPI_Finalize();
    return wrong;
}
