/* MPICH: after a lock with MPI_MODE_NOCHECK the window cannot be locked exclusively any more.
 *
 * build: mpicc mpich_lock_nocheck.c -o lock_nocheck     run: mpiexec -n 1 ./lock_nocheck
 * MPI-5.0 section 12.5.5: MPI_MODE_NOCHECK says that no other process holds or attempts to acquire a conflicting lock while
 *   the calling one holds the window lock; the assertion does not change the semantics of the program. Section 12.7.3: if
 *   no conflicting lock is held, lock, access and unlock must complete.
 * expected: each process gets its three locks of its own window, one after the other; nobody else locks it.
 * observed: the exclusive lock is never granted (MPICH 5.0.2).
 */
// run: np=1 timeout=20
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static void too_late(int signal) {
    (void)signal;
    static char const text[] =
        "BUG: an exclusive lock after one with MPI_MODE_NOCHECK is not granted within 10 seconds\n";
    (void)!write(1, text, sizeof text - 1);
    _exit(1);
}

int main(int argc, char** argv) {
    int rank, *memory;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_allocate(sizeof(int), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    signal(SIGALRM, too_late);
    alarm(10);
    MPI_Win_lock(MPI_LOCK_SHARED, rank, MPI_MODE_NOCHECK, win);
    MPI_Win_unlock(rank, win);
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
    MPI_Win_unlock(rank, win);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
    MPI_Win_unlock(rank, win);
    alarm(0);
    if (rank == 0) puts("OK");
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
