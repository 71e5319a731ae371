/* Open MPI: MPI_Pack_external_size counts MPI_LONG as 8 bytes.
 *
 * build: mpicc openmpi_external32_long.c -o external32_long       run: mpiexec -n 1 ./external32_long
 * MPI-5.0 section 14.5.2: in external32 MPI_LONG and MPI_UNSIGNED_LONG have 4 bytes, MPI_WCHAR has 2.
 * expected: 4, 4 and 2.
 * observed: 8, 8 and 4 (Open MPI 4.1.4 to 5.0.11).
 */
// run: np=1 timeout=20
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    MPI_Aint number = -7, positive = -7, character = -7;
    int wrong;
    MPI_Init(&argc, &argv);
    MPI_Pack_external_size("external32", 1, MPI_LONG, &number);
    MPI_Pack_external_size("external32", 1, MPI_UNSIGNED_LONG, &positive);
    MPI_Pack_external_size("external32", 1, MPI_WCHAR, &character);
    wrong = number != 4 || positive != 4 || character != 2;
    if (wrong)
        printf("BUG: MPI_LONG %ld, MPI_UNSIGNED_LONG %ld, MPI_WCHAR %ld\n", (long)number, (long)positive,
               (long)character);
    else puts("OK");
    MPI_Finalize();
    return wrong;
}
