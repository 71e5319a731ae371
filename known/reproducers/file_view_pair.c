/* MPICH 4.0, Intel MPI: MPI_File_set_view ends the job when the etype is a pair such as MPI_DOUBLE_INT.
 *
 * build: mpicc file_view_pair.c -o file_view_pair        run: mpiexec -n 1 ./file_view_pair
 * MPI-5.0 sections 14.1.1 (an etype can be any predefined datatype) and 6.9.4 (the pairs are predefined).
 * expected: MPI_SUCCESS.
 * observed: the job ends with "application called MPI_Abort(MPI_COMM_WORLD, 1)".
 */
// run: np=1 timeout=20
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
    MPI_File file;
    MPI_Init(&argc, &argv);
    char path[] = "/tmp/assay_view_pair-XXXXXX";
    if (mkstemp(path) < 0) return 2;
    MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
    int const error = MPI_File_set_view(file, 0, MPI_DOUBLE_INT, MPI_DOUBLE_INT, "native", MPI_INFO_NULL);
    MPI_File_close(&file);
    puts(error == MPI_SUCCESS ? "OK" : "BUG: MPI_File_set_view returns an error");
    MPI_Finalize();
    return error != MPI_SUCCESS;
}
