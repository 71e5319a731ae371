/* MPICH: a write with holes that the system refuses keeps its lock of the file; who writes beside it waits for ever.
 *
 * build: mpicc mpich_file_lock_refused.c -o lock_refused        run: mpiexec -n 2 ./lock_refused
 * MPI-5.0 section 14.6.3: "All blocking routines must complete in finite time unless an exceptional condition (such as
 *   resource exhaustion) causes an error"; 14.4.1.3: a noncollective call only depends on the calling process.
 * expected: no file may grow beyond 0 bytes (RLIMIT_FSIZE) on rank 1, which writes every other int: an error there. Rank 0,
 *   which has no limit and writes the ints between afterwards, succeeds.
 * observed: MPI_File_write_at of rank 0 does not return (MPICH 5.0.2).
 */
// run: np=2 timeout=20
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

enum { n = 100 };

static void bug(int number) {
    (void)number;
    puts("BUG: MPI_File_write_at does not return");
    fflush(stdout);
    _Exit(1);
}

int main(int argc, char** argv) {
    char name[] = "/tmp/assay_lock_refused_XXXXXX";
    static int data[n];
    int rank;
    MPI_File file;
    MPI_Datatype every_other;
    struct rlimit before, now;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0 && mkstemp(name) < 0) MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &every_other);
    MPI_Type_commit(&every_other);
    MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    MPI_File_set_view(file, rank * (int)sizeof(int), MPI_INT, every_other, "native", MPI_INFO_NULL);
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    now = before;
    now.rlim_cur = 0;
    if (rank == 1) {
        setrlimit(RLIMIT_FSIZE, &now);
        MPI_File_write_at(file, 0, data, n, MPI_INT, MPI_STATUS_IGNORE);
        setrlimit(RLIMIT_FSIZE, &before);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    signal(SIGALRM, bug);
    if (rank == 0) {
        alarm(4);
        MPI_File_write_at(file, 0, data, n, MPI_INT, MPI_STATUS_IGNORE);
        alarm(0);
        puts("OK");
    }
    MPI_File_close(&file);
    if (rank == 0) unlink(name);
    MPI_Type_free(&every_other);
    MPI_Finalize();
    return 0;
}
