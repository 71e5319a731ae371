/* Open MPI: a window has a name although nobody set one.
 *
 * build: mpicc openmpi_win_name.c -o win_name     run: mpiexec -n 2 ./win_name
 * MPI-5.0 section 7.8: MPI_Win_get_name returns "the name previously stored on the window, or an empty string if no such
 *   name exists".
 * expected: an empty string of length 0.
 * observed: a string such as "MPI_WIN 2" (Open MPI 4.1.8, 5.0.11).
 */
// run: np=2 timeout=20
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    char name[MPI_MAX_OBJECT_NAME] = "?";
    int length = -1, memory = 0, wrong;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Win_create(&memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_get_name(win, name, &length);
    wrong = length != 0 || name[0] != '\0';
    if (wrong) printf("BUG: a new window has the name \"%s\" of length %d\n", name, length);
    else puts("OK");
    MPI_Win_free(&win);
    MPI_Finalize();
    return wrong;
}
