/* Open MPI: the data representation "internal" is refused.
 *
 * build: mpicc openmpi_file_datarep_internal.c -o datarep_internal     run: mpiexec -n 1 ./datarep_internal
 * MPI-5.0 section 14.5: MPI supports multiple data representations: "native", "internal", and "external32". An implementation
 *   may support more, and "internal" may be stored in any format, so also as "native".
 * expected: MPI_File_set_view takes each of the three.
 * observed: MPI_ERR_UNSUPPORTED_DATAREP for "internal" (component ompio).
 */
// run: np=1 timeout=20
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
    MPI_File file;
    char path[] = "/tmp/assay_file_datarep_internal_XXXXXX"; // another library may run this at the same time
    char text[MPI_MAX_ERROR_STRING] = "MPI_SUCCESS";
    int length, class;
    MPI_Init(&argc, &argv);
    if (mkstemp(path) < 0) return 2;
    MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                  &file);
    int const code = MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "internal", MPI_INFO_NULL);
    if (code != MPI_SUCCESS) MPI_Error_class(code, &class), MPI_Error_string(class, text, &length);
    printf("%s: MPI_File_set_view with \"internal\" returns %s\n", code == MPI_SUCCESS ? "OK" : "BUG", text);
    MPI_File_close(&file);
    MPI_Finalize();
    return code != MPI_SUCCESS;
}
