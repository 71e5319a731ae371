/* Open MPI: MPI_Get_library_version counts the terminating null character.
 *
 * build: mpicc openmpi_library_version.c -o library_version        run: mpiexec -n 1 ./library_version
 * MPI-5.0 section 9.1.1: resultlen is the length in printable characters of the result; in C the null is not counted.
 * expected: strlen of the string.
 * observed: one more (Open MPI 4.1.4 to 5.0.11).
 */
// run: np=1 timeout=20
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char** argv) {
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = -1;
    MPI_Init(&argc, &argv);
    MPI_Get_library_version(text, &length);
    int const bad = length != (int)strlen(text);
    if (bad) printf("BUG: length %d of a string of %d characters\n", length, (int)strlen(text));
    else puts("OK");
    MPI_Finalize();
    return bad;
}
