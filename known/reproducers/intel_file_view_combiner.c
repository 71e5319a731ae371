/* Intel MPI (libmpi_abi.so): MPI_File_set_view ends the job when the file type is a subarray, a darray, a duplicate or a pair.
 *
 * build: mpicc intel_file_view_combiner.c -o intel_file_view_combiner        run: mpiexec -n 2 ./intel_file_view_combiner
 * MPI-5.0 section 14.3: any derived datatype without overlaps that is made of etypes can be a file type; the constructors
 *   for subarrays and distributed arrays (5.1.3, 5.1.4) are there for files.
 * expected: 2 of 4 integers are written through a view made by MPI_Type_create_subarray.
 * observed: the job ends with "application called MPI_Abort(MPI_COMM_WORLD, 1)". So it does with MPI_Type_create_darray, with
 *   MPI_Type_dup of an MPI_Type_vector, and with MPI_DOUBLE_INT (argument: darray, dup, pair).
 */
// run: np=2 timeout=20
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
    int rank, data[2] = {1, 2}, one = 1, two = 2, four = 4, block = MPI_DISTRIBUTE_BLOCK,
              any = MPI_DISTRIBUTE_DFLT_DARG;
    char const what = argc > 1 ? argv[1][0] : 's';
    MPI_Datatype type = MPI_INT, part;
    MPI_File file;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    char name[] = "/tmp/assay_view_combiner-XXXXXX"; // each process has a file of its own
    if (mkstemp(name) < 0) return 2;
    MPI_Type_vector(2, 1, 2, MPI_INT, &part);
    if (what == 'p') type = MPI_DOUBLE_INT;
    else if (what == 'd' && argv[1][1] == 'u') MPI_Type_dup(part, &type);
    else if (what == 'd') MPI_Type_create_darray(1, 0, 1, &four, &block, &any, &one, MPI_ORDER_C, MPI_INT, &type);
    else MPI_Type_create_subarray(1, &four, &two, &one, MPI_ORDER_C, MPI_INT, &type);
    if (what != 'p') MPI_Type_commit(&type);
    MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                  &file);
    int error = MPI_File_set_view(file, 0, what == 'p' ? type : MPI_INT, type, "native", MPI_INFO_NULL);
    if (error == MPI_SUCCESS && what != 'p') error = MPI_File_write(file, data, 2, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    printf("%s: rank %d: error %d\n", error ? "BUG" : "OK", rank, error);
    MPI_Finalize();
    return error != 0;
}
