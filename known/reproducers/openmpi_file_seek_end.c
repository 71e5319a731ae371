/* Open MPI: MPI_File_seek to MPI_SEEK_END counts the holes of the view as data.
 *
 * build: mpicc openmpi_file_seek_end.c -o seek_end     run: mpiexec -n 1 ./seek_end
 * MPI-5.0 section 14.4.3: with MPI_SEEK_END the pointer is set to the end of file plus offset; section 14.1.1: the end of file
 *   is the offset of the first etype accessible in the view after the last byte of the file; holes are skipped.
 * expected: 4 etypes, in a file of 32 bytes of which the view shows every second integer.
 * observed: 8, the size of the file divided by the size of the etype; 1 (4.1.4).
 */
// run: np=1 timeout=20
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
    MPI_File file;
    MPI_Offset position = -1;
    MPI_Datatype every_second;
    int const data[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    char path[] = "/tmp/assay_file_seek_end_XXXXXX"; // another library may run this at the same time
    MPI_Init(&argc, &argv);
    MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &every_second);
    MPI_Type_commit(&every_second);
    if (mkstemp(path) < 0) return 2;
    MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                  &file);
    MPI_File_write_at(file, 0, data, 8, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_set_view(file, 0, MPI_INT, every_second, "native", MPI_INFO_NULL);
    MPI_File_seek(file, 0, MPI_SEEK_END);
    MPI_File_get_position(file, &position);
    int const wrong = position != 4 && position != 0; // the library that gives 0 has another defect
    printf("%s: MPI_File_get_position gives %lld at the end, expected 4\n", wrong ? "BUG" : "OK", (long long)position);
    MPI_File_close(&file);
    MPI_Type_free(&every_second);
    MPI_Finalize();
    return wrong;
}
