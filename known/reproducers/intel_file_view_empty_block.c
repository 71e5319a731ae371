/* Intel MPI: MPI_File_set_view refuses a file type that has an empty block of a datatype with padding.
 *
 * build: mpicc intel_file_view_empty_block.c -o view_empty_block     run: mpiexec -n 1 ./view_empty_block
 * MPI-5.0 section 14.1.1: a file type is a single etype, or a datatype made of several of them, whose displacements are not negative
 *   and only grow; section 5.1.2: a block may have 0 elements.
 * expected: OK.
 * observed: "displacements of filetype must be in a monotonically nondecreasing order", though they are (Intel MPI 2021.19.0).
 */
// run: np=1 timeout=20
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    int const ones[2] = {1, 1}, lengths[3] = {1, 0, 2};
    MPI_Aint const members[2] = {0, 8}, places[3] = {0, 32, 80};
    MPI_Datatype const old[2] = {MPI_DOUBLE, MPI_CHAR};
    MPI_Datatype etype, filetype;
    MPI_File file;
    int code;
    MPI_Init(&argc, &argv);
    MPI_Type_create_struct(2, ones, members, old, &etype);
    MPI_Type_commit(&etype);
    MPI_Type_create_hindexed(3, lengths, places, etype, &filetype);
    MPI_Type_commit(&filetype);
    MPI_File_open(MPI_COMM_SELF, "view_empty_block.data", MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE,
                  MPI_INFO_NULL, &file);
    code = MPI_File_set_view(file, 0, etype, filetype, "native", MPI_INFO_NULL);
    printf("%s: MPI_File_set_view returns %d\n", code == MPI_SUCCESS ? "OK" : "BUG", code);
    fflush(stdout);
    MPI_File_close(&file);
    MPI_Type_free(&filetype);
    MPI_Type_free(&etype);
    MPI_Finalize();
    return code != MPI_SUCCESS;
}
