/* MPI_MIN and MPI_MAX compare some unsigned integers as signed ones.
 *
 * build: mpicc min_unsigned.c -o min_unsigned        run: mpiexec -n 1 ./min_unsigned
 * MPI-5.0 section 6.9.2: MPI_MIN and MPI_MAX of C integers, among them MPI_UNSIGNED_CHAR and MPI_UNSIGNED_LONG.
 * expected: the minimum of 1 and 2^7 (2^63) is 1, the maximum 2^7 (2^63).
 * observed: the other way round for MPI_UNSIGNED_LONG (Open MPI 4.1.4 of Debian), for MPI_UNSIGNED_CHAR and others (MPICH 4.0.2
 *   of Debian).
 */
// run: np=1 timeout=20
#include <mpi.h>
#include <stdio.h>

#define TRY(type, handle)                                                                                              \
    {                                                                                                                  \
        type const in = 1, top = (type)((type)1 << (8 * sizeof(type) - 1));                                            \
        type low = top, high = top;                                                                                    \
        MPI_Reduce_local(&in, &low, 1, handle, MPI_MIN);                                                               \
        MPI_Reduce_local(&in, &high, 1, handle, MPI_MAX);                                                              \
        if (low != 1 || high != top)                                                                                   \
            bad += printf("BUG: %s: minimum %llx, maximum %llx\n", #handle, (unsigned long long)low,                   \
                          (unsigned long long)high);                                                                   \
    }

int main(int argc, char** argv) {
    int bad = 0;
    MPI_Init(&argc, &argv);
    TRY(unsigned char, MPI_UNSIGNED_CHAR)
    TRY(unsigned short, MPI_UNSIGNED_SHORT)
    TRY(unsigned, MPI_UNSIGNED)
    TRY(unsigned long, MPI_UNSIGNED_LONG)
    TRY(unsigned long long, MPI_UNSIGNED_LONG_LONG)
    if (!bad) puts("OK");
    MPI_Finalize();
    return bad != 0;
}
