/* ROMIO: after MPI_File_set_view with a file type that has a lower bound, the individual file pointer is not 0.
 *
 * build: mpicc file_position_lower_bound.c -o file_position_lower_bound     run: mpiexec -n 1 ./file_position_lower_bound
 * MPI-5.0 section 14.3: MPI_File_set_view resets the individual file pointers to 0; section 14.4.3: MPI_File_get_position
 *   returns the position in etypes relative to the current view.
 * expected: 0.
 * observed: -2 for MPI_INT resized to a lower bound of 8 (MPICH 4.0, Intel MPI). With Intel MPI an MPI_File_iwrite after an
 *   MPI_File_seek then fails.
 */
// run: np=1 timeout=20
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
    char name[] = "/tmp/position-XXXXXX";
    MPI_Offset position = -7;
    MPI_Datatype type;
    MPI_File file;
    MPI_Init(&argc, &argv);
    if (mkstemp(name) < 0) return 2;
    MPI_Type_create_resized(MPI_INT, 8, 12, &type);
    MPI_Type_commit(&type);
    MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
    MPI_File_set_view(file, 16, type, type, "native", MPI_INFO_NULL);
    MPI_File_get_position(file, &position);
    MPI_File_close(&file);
    MPI_Type_free(&type);
    if (position == 0) puts("OK");
    else printf("BUG: MPI_File_get_position gives %lld, expected 0\n", (long long)position);
    MPI_Finalize();
    return position != 0;
}
