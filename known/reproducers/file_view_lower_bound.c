/* MPICH 4.0, Intel MPI: MPI_File_set_view takes the lower bound of an etype for a negative displacement of its data.
 *
 * build: mpicc file_view_lower_bound.c -o file_view_lower_bound        run: mpiexec -n 1 ./file_view_lower_bound
 * MPI-5.0 section 14.1.1: an etype has nonnegative displacements in its type map that only grow; bounds are not in the type map
 *   (section 5.1.11).
 * expected: MPI_SUCCESS.
 * observed: an error, "displacements of etype must be non-negative".
 */
// run: np=1 timeout=20
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
    int const ones[] = {1, 1};
    MPI_Aint const places[] = {0, 8};
    MPI_Datatype const parts[] = {MPI_INT, MPI_DOUBLE};
    char path[] = "/tmp/assay_file_view_lower_bound-XXXXXX";
    MPI_Datatype mix, type;
    MPI_File file;
    MPI_Init(&argc, &argv);
    MPI_Type_create_struct(2, ones, places, parts, &mix);
    MPI_Type_create_resized(mix, -16, 48, &type);
    MPI_Type_commit(&type);
    if (mkstemp(path) < 0) MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
    int const error = MPI_File_set_view(file, 0, type, type, "native", MPI_INFO_NULL);
    MPI_File_close(&file);
    puts(error == MPI_SUCCESS ? "OK" : "BUG: MPI_File_set_view returns an error");
    MPI_Finalize();
    return error != MPI_SUCCESS;
}
