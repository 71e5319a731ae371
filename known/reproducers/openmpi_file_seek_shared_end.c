/* Open MPI: MPI_File_seek_shared to MPI_SEEK_END ignores the displacement of the view.
 *
 * build: mpicc openmpi_file_seek_shared_end.c -o seek_shared_end     run: mpiexec -n 1 ./seek_shared_end
 * MPI-5.0 section 14.4.4.3: with MPI_SEEK_END the pointer is set to the end of file plus offset; section 14.1.1: the end of
 *   file is an offset in the view, which begins after the displacement.
 * expected: 4 etypes, in a file of 32 bytes of which the view leaves out the first 16.
 * observed: 8, the size of the file divided by the size of the etype. MPI_File_seek does it right.
 */
// run: np=1 timeout=20
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
    MPI_File file;
    MPI_Offset position = -1;
    int const data[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    char path[] = "/tmp/assay_file_seek_shared_end_XXXXXX"; // another library may run this at the same time
    MPI_Init(&argc, &argv);
    if (mkstemp(path) < 0) return 2;
    MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                  &file);
    MPI_File_write_at(file, 0, data, 8, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_set_view(file, 4 * sizeof(int), MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    MPI_File_seek_shared(file, 0, MPI_SEEK_END);
    MPI_File_get_position_shared(file, &position);
    int const whole = position == 8; // what else there may be is another defect
    printf("%s: MPI_File_get_position_shared gives %lld at the end, expected 4\n", whole ? "BUG" : "OK",
           (long long)position);
    MPI_File_close(&file);
    MPI_Finalize();
    return whole;
}
