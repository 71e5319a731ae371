/* Open MPI: MPI_File_set_view refuses a filetype that shows bytes twice.
 *
 * build: mpicc file_view_repeated.c -o repeated     run: mpiexec -n 1 ./repeated
 * MPI-5.0 section 14.3: the displacements of a filetype are not required to be distinct; overlapping regions are not permitted only
 *   in a file that is opened for writing.
 * expected: 5 5 6.
 * observed: MPI_ERR_TYPE.
 */
// run: np=1 timeout=20
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char** argv) {
    MPI_File file;
    MPI_Datatype type;
    int const numbers[2] = {5, 6}, lengths[] = {1, 1, 1}, places[] = {0, 0, 1};
    int in[3] = {0, 0, 0};
    char path[] = "/tmp/assay_view_repeated-XXXXXX";
    MPI_Init(&argc, &argv);
    int const fd = mkstemp(path);
    if (fd < 0 || write(fd, numbers, sizeof numbers) != sizeof numbers) return 2;
    MPI_Type_indexed(3, lengths, places, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_RDONLY | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
    int const code = MPI_File_set_view(file, 0, MPI_INT, type, "native", MPI_INFO_NULL);
    MPI_File_read_at(file, 0, in, 3, MPI_INT, MPI_STATUS_IGNORE);
    int const wrong = code != MPI_SUCCESS || in[0] != 5 || in[1] != 5 || in[2] != 6;
    if (wrong) printf("BUG: MPI_File_set_view returns %d, read %d %d %d\n", code, in[0], in[1], in[2]);
    else puts("OK");
    MPI_File_close(&file);
    MPI_Finalize();
    return wrong;
}
