/* Intel MPI (libmpi_abi.so): MPI_File_write_at_all of 0 elements fails when view and datatype have gaps.
 *
 * build: mpicc intel_file_collective_nothing.c -o intel_file_collective_nothing
 * run:   mpiexec -n 2 ./intel_file_collective_nothing
 * MPI-5.0 sections 14.4.1.4, 14.4.2: count data items are transferred, none if it is 0; 14.6.4: processes may pass different
 *   counts to a collective access.
 * expected: the call succeeds and writes nothing.
 * observed: "Inconsistent arguments to collective routine", or the file has a byte; with several processes it may also hang.
 *   So it is with the other collective accesses and with nonblocking ones such as MPI_File_iread_at, but not with
 *   MPI_File_read_at and its like.
 */
// run: np=2 timeout=20
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
    int rank, data[4] = {1, 2, 3, 4};
    MPI_Datatype type;
    MPI_File file;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Type_vector(2, 1, 2, MPI_INT, &type);
    MPI_Type_commit(&type);
    char name[] = "/tmp/assay_collective_nothing-XXXXXX"; // each process has a file of its own
    if (mkstemp(name) < 0) return 2;
    MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                  &file);
    MPI_File_set_view(file, 0, MPI_INT, type, "native", MPI_INFO_NULL);
    int const error = MPI_File_write_at_all(file, 0, data, 0, type, MPI_STATUS_IGNORE);
    MPI_Offset size = -1;
    MPI_File_get_size(file, &size);
    int const wrong = error != MPI_SUCCESS || size != 0;
    printf("%s: rank %d: error %d, the file has %lld bytes\n", wrong ? "BUG" : "OK", rank, error, (long long)size);
    MPI_File_close(&file);
    MPI_Type_free(&type);
    MPI_Finalize();
    return wrong;
}
