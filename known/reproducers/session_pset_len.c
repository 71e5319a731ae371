/* MPI_Session_get_nth_pset with too little room does not tell how much room the name needs.
 *
 * build: mpicc session_pset_len.c -o session_pset_len          run: mpiexec -n 1 ./session_pset_len
 * MPI-5.0 section 11.3.3: on return, the value of pset_len will be set to the required buffer size to hold the process set name.
 * expected: pset_len is the same after a call with pset_len 0, with one character less than needed, and with more than needed.
 * observed: a pset_len that is not 0 stays as it was (MPICH 5.0.2, Intel MPI 2021.19.0).
 */
// run: np=1 timeout=10
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
#if MPI_VERSION < 4 && !defined(MPI_SESSION_NULL)
    printf("N/A: there are no sessions\n");
    return (void)argc, (void)argv, 0;
#else
    char name[2048];
    int needed = 0, less, more;
    MPI_Session session;
    MPI_Init(&argc, &argv);
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, &needed, name);
    less = needed - 1;
    more = needed + 5;
    MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, &less, name);
    MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, &more, name);
    int const broken = less != needed || more != needed;
    printf("%s: the name needs room for %d; after calls with %d and %d pset_len is %d and %d\n", broken ? "BUG" : "OK",
           needed, needed - 1, needed + 5, less, more);
    MPI_Session_finalize(&session);
    MPI_Finalize();
    return broken;
#endif
}
