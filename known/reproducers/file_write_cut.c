/* Open MPI, Intel MPI: a write with holes of which the system refuses the last bytes raises no error.
 *
 * build: mpicc file_write_cut.c -o write_cut        run: mpiexec -n 1 ./write_cut
 * MPI-5.0 section 14.4.1.4: "The amount of data accessed will be the amount requested, unless an error is raised".
 * expected: no file may grow beyond 690 bytes (RLIMIT_FSIZE) and the data end at byte 693: an error, of MPI_File_write_at,
 *   MPI_File_sync or MPI_File_close.
 * observed: MPI_SUCCESS of all three, and MPI_Get_elements gives MPI_UNDEFINED (Open MPI 5.0.11) or all elements (Intel MPI 2021.19).
 */
// run: np=1 timeout=20
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

enum { n = 17, first = 13, limit = 690 };

int main(int argc, char** argv) {
    char name[] = "/tmp/assay_write_cut_XXXXXX";
    static int data[10 * n];
    int elements = -1, bad;
    MPI_File file;
    MPI_Datatype type;
    MPI_Status status;
    struct rlimit before, now;
    MPI_Init(&argc, &argv);
    if (mkstemp(name) < 0) MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_Type_vector(3, 2, 4, MPI_INT, &type); /* 10 ints, of which 6 are data */
    MPI_Type_commit(&type);
    MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    unlink(name);
    MPI_File_set_view(file, first, type, type, "native", MPI_INFO_NULL);
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    now = before;
    now.rlim_cur = limit;
    setrlimit(RLIMIT_FSIZE, &now);
    int const code = MPI_File_write_at(file, 0, data, n, type, &status);
    if (code == MPI_SUCCESS) MPI_Get_elements(&status, type, &elements);
    int const sync = MPI_File_sync(file), close = MPI_File_close(&file);
    setrlimit(RLIMIT_FSIZE, &before);
    bad = code == MPI_SUCCESS && sync == MPI_SUCCESS && close == MPI_SUCCESS;
    if (bad) printf("BUG: MPI_SUCCESS, and %d of %d elements are said to be written\n", elements, 6 * n);
    else puts("OK");
    MPI_Type_free(&type);
    MPI_Finalize();
    return bad;
}
