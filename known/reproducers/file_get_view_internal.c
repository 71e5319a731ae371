/* MPICH, Intel MPI: MPI_File_get_view says "native" of a view in the representation "internal".
 *
 * build: mpicc file_get_view_internal.c -o internal     run: mpiexec -n 1 ./internal
 * MPI-5.0 section 14.3: the data representation of the view is returned.
 * expected: internal.
 * observed: native.
 */
// run: np=1 timeout=20
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char** argv) {
    MPI_File file;
    MPI_Offset displacement = 0;
    MPI_Datatype etype, filetype;
    char path[] = "/tmp/assay_get_view_internal-XXXXXX", representation[MPI_MAX_DATAREP_STRING + 1] = "";
    MPI_Init(&argc, &argv);
    if (mkstemp(path) < 0) return 2;
    MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
    int const code = MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "internal", MPI_INFO_NULL);
    if (code == MPI_SUCCESS) MPI_File_get_view(file, &displacement, &etype, &filetype, representation);
    int const wrong = code == MPI_SUCCESS && strcmp(representation, "internal") != 0;
    if (wrong) printf("BUG: MPI_File_get_view gives %s\n", representation);
    else puts(code == MPI_SUCCESS ? "OK" : "N/A: MPI_File_set_view does not take it");
    MPI_File_close(&file);
    MPI_Finalize();
    return wrong;
}
