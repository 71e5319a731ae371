/* Open MPI: after a collective write that the system refuses on a process, the others never leave MPI_File_close.
 *
 * build: mpicc openmpi_file_write_all_refused.c -o write_all_refused        run: mpiexec -n 4 ./write_all_refused
 * MPI-5.0 section 14.6.3: "All blocking routines must complete in finite time unless an exceptional condition (such as resource
 *   exhaustion) causes an error".
 * expected: no file may grow beyond half of what four ranks write in turns (RLIMIT_FSIZE): some get an error, and MPI_File_write_all,
 *   MPI_File_sync and MPI_File_close return on all.
 * observed: one process leaves MPI_File_write_all before the others have, and these wait in MPI_File_close (Open MPI 5.0.11).
 */
// run: np=4 timeout=20
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { piece = 4, pieces = 16384 }; // bytes of each rank in a row, and how many such

static void bug(int number) {
    (void)number;
    puts("BUG: MPI_File_write_all, MPI_File_sync or MPI_File_close does not return");
    fflush(stdout);
    _Exit(1);
}

int main(int argc, char** argv) {
    static char data[piece * pieces];
    char name[] = "/tmp/assay_write_all_XXXXXX";
    int rank, size;
    MPI_File file;
    MPI_Datatype turns;
    struct rlimit before, now;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    memset(data, 'a' + rank, sizeof data);
    if (rank == 0 && mkstemp(name) < 0) MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) unlink(name);
    MPI_Type_vector(pieces, piece, size * piece, MPI_BYTE, &turns);
    MPI_Type_commit(&turns);
    MPI_File_set_view(file, rank * piece, MPI_BYTE, turns, "native", MPI_INFO_NULL);
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    now = before;
    now.rlim_cur = (rlim_t)size * sizeof data / 2;
    setrlimit(RLIMIT_FSIZE, &now);
    signal(SIGALRM, bug);
    alarm(5);
    MPI_File_write_all(file, data, sizeof data, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_sync(file);
    MPI_File_close(&file);
    alarm(0);
    setrlimit(RLIMIT_FSIZE, &before);
    MPI_Type_free(&turns);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) puts("OK");
    MPI_Finalize();
    return 0;
}
