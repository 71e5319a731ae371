/* Open MPI: a duplicate of a datatype has a name although nobody set one.
 *
 * build: mpicc openmpi_type_dup_name.c -o type_dup_name     run: mpiexec -n 1 ./type_dup_name
 * MPI-5.0 section 7.8: MPI_Type_get_name returns the name that was stored on the datatype, or an empty string if there is
 *   none; names do not go over to duplicates.
 * expected: an empty string.
 * observed: "Dup MPI_INT" (Open MPI 4.1.4 to 5.0.11).
 */
// run: np=1 timeout=20
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    char name[MPI_MAX_OBJECT_NAME] = "?";
    int length = -1, wrong;
    MPI_Datatype copy;
    MPI_Init(&argc, &argv);
    MPI_Type_dup(MPI_INT, &copy);
    MPI_Type_get_name(copy, name, &length);
    wrong = length != 0 || name[0] != '\0';
    if (wrong) printf("BUG: a new datatype has the name \"%s\"\n", name);
    else puts("OK");
    MPI_Type_free(&copy);
    MPI_Finalize();
    return wrong;
}
