/* MPICH, Intel MPI: a read that reaches the end of the file reports all that was asked for, when memory or view have holes.
 *
 * build: mpicc mpich_file_end_of_file.c -o eof     run: mpiexec -n 1 ./eof
 * MPI-5.0 section 14.4.1.4: the status returns the amount of data accessed; the end of the file is detected by noting that
 *   this is less than the amount requested.
 * expected: 3 elements of 6, as the file holds no more.
 * observed: 6 for a memory datatype with a gap and for a view with a hole (MPICH 4.0.2 to 5.0.2).
 */
// run: np=1 timeout=20
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int wrong;
static void judge(char const* what, MPI_Status* status, MPI_Datatype type) {
    int count = -1;
    MPI_Get_count(status, type, &count);
    if (count == 3) return;
    ++wrong;
    printf("BUG: %s: MPI_Get_count gives %d, expected 3\n", what, count);
    fflush(stdout);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_File file;
    MPI_Status status;
    MPI_Datatype gap, hole;
    int data[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    char path[] = "/tmp/assay_file_end_of_file_XXXXXX"; // another library may run this at the same time
    MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &gap);
    MPI_Type_commit(&gap);
    MPI_Type_create_resized(MPI_INT, 0, 3 * sizeof(int), &hole);
    MPI_Type_commit(&hole);
    if (mkstemp(path) < 0) return 2;
    MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                  &file);
    MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL); // the etype of writing and reading is one
    MPI_File_write_at(file, 0, data, 9, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_read_at(file, 6, data, 6, MPI_INT, &status);
    judge("no gap, no hole", &status, MPI_INT);
    MPI_File_read_at(file, 6, data, 6, gap, &status);
    judge("a gap in memory", &status, gap);
    MPI_File_set_view(file, 0, MPI_INT, hole, "native", MPI_INFO_NULL);
    MPI_File_read_at(file, 0, data, 6, MPI_INT, &status);
    judge("a hole in the view", &status, MPI_INT);
    MPI_File_close(&file);
    MPI_Type_free(&gap);
    MPI_Type_free(&hole);
    if (wrong == 0) puts("OK");
    MPI_Finalize();
    return wrong != 0;
}
