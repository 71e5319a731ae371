/* Open MPI: MPI_Session_get_nth_pset with too little room gives a name without a terminating null.
 *
 * build: mpicc openmpi_pset_name_room.c -o pset_name_room       run: mpiexec -n 1 ./pset_name_room
 * MPI-5.0 section 11.3.3: with less room than the name needs it is truncated; in C the function returns a null terminated string in all
 * cases where pset_len is greater than 0.
 * expected: with room for 11 of the 12 characters that "mpi://WORLD" needs, "mpi://WORL" and a null.
 * observed: the 11th character is 'D', and no null comes (Open MPI 5.0.11).
 */
// run: np=1 timeout=10
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char** argv) {
#if MPI_VERSION < 4 && !defined(MPI_SESSION_NULL)
    printf("N/A: there are no sessions\n");
    return (void)argc, (void)argv, 0;
#else
    char name[2048];
    int needed = 0, room, broken;
    MPI_Session session;
    MPI_Init(&argc, &argv);
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, &needed, name);
    memset(name, '#', sizeof name);
    room = needed - 1;
    MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, &room, name);
    broken = memchr(name, 0, (size_t)needed - 1) == NULL;
    name[needed - 1] = '\0';
    printf("%s: with room for %d of %d characters the name is \"%s\"%s\n", broken ? "BUG" : "OK", needed - 1, needed,
           name, broken ? " without a null" : "");
    MPI_Session_finalize(&session);
    MPI_Finalize();
    return broken;
#endif
}
