/* A session after the end of another one hangs or crashes.
 *
 * build: mpicc mpich_session_again.c -o again       run: mpiexec -n 4 ./again
 * MPI-5.0 section 11.3: a process may initialize and finalize MPI by sessions any number of times, also without MPI_Init.
 * expected: OK.
 * observed: SIGSEGV or an internal error in MPI_Session_init or MPI_Comm_create_from_group (MPICH 4.0, Intel MPI 2021.19,
 *   Open MPI 5.0.11); now and then processes wait for ever in MPI_Comm_create_from_group, or it ends them with
 *   "Message truncated" in an allgather of its own (MPICH 5.0.2, mostly on a machine with fewer cores than processes;
 *   of two processes on busy cores 3 of 60 runs fail).
 */
// run: np=4 timeout=60 runs=10
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static void late(int number) {
    static char const text[] = "BUG: MPI_Comm_create_from_group hangs in a later session\n";
    (void)number;
    if (write(1, text, sizeof text - 1) < 0) _exit(2);
    _exit(1);
}

int main(void) {
    signal(SIGALRM, late);
    int rank = -1, code;
    for (int round = 0; round < 30; ++round) {
        MPI_Session session;
        MPI_Group group;
        MPI_Comm comm;
        code = MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
        if (code == MPI_SUCCESS) code = MPI_Group_from_session_pset(session, "mpi://SELF", &group);
        alarm(30);
        if (code == MPI_SUCCESS)
            code = MPI_Comm_create_from_group(group, "again", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
        alarm(0);
        if (code != MPI_SUCCESS) return puts("BUG: a session or its communicator cannot be made"), 1;
        MPI_Comm_rank(comm, &rank);
        MPI_Comm_free(&comm);
        MPI_Group_free(&group);
        MPI_Session_finalize(&session);
    }
    if (rank == 0) puts("OK");
    return 0;
}
