/* Open MPI: MPI_File_read_all that reaches the end of the file reports what was asked for.
 *
 * build: mpicc openmpi_file_read_all_end.c -o read_all_end     run: mpiexec -n 1 ./read_all_end
 * MPI-5.0 section 14.4.1.4: a read that reaches the end of the file returns the amount of data accessed.
 * expected: a count of 3 elements of 6, as the file holds no more; MPI_File_read_at gives it.
 * observed: 6. MPI_File_read_at_all does it right.
 */
// run: np=1 timeout=20
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_File file;
    MPI_Status status;
    int data[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9}, plain = -1, all = -1;
    char path[] = "/tmp/assay_file_read_all_end_XXXXXX"; // another library may run this at the same time
    if (mkstemp(path) < 0) return 2;
    MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                  &file);
    MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL); // the etype it is read by
    MPI_File_write_at(file, 0, data, 9, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_read_at(file, 6, data, 6, MPI_INT, &status);
    MPI_Get_count(&status, MPI_INT, &plain);
    MPI_File_set_view(file, 6 * sizeof(int), MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    MPI_File_read_all(file, data, 6, MPI_INT, &status);
    MPI_Get_count(&status, MPI_INT, &all);
    printf("%s: MPI_Get_count gives %d for MPI_File_read_at, %d for MPI_File_read_all, expected 3\n",
           plain == 3 && all == 3 ? "OK" : "BUG", plain, all);
    MPI_File_close(&file);
    MPI_Finalize();
    return plain != 3 || all != 3;
}
