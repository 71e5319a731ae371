/* MPICH: MPI_File_read_all and others do not write the status when the datatype has no size.
 *
 * build: mpicc mpich_file_zero_size_status.c -o zero     run: mpiexec -n 1 ./zero
 * MPI-5.0 section 14.4.1.4: upon completion, the amount of data accessed is returned in a status.
 *   Section 3.2.5: of a datatype without size, of which nothing was transferred, MPI_Get_count gives 0.
 * expected: MPI_Get_count gives 0.
 * observed: what the status held before (MPICH 4.0.2 to 5.0.2).
 */
// run: np=1 timeout=20
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int wrong;
static void judge(char const* call, MPI_Status* status, MPI_Datatype type) {
    int count = -1, bytes = -1;
    MPI_Get_count(status, type, &count);
    MPI_Get_count(status, MPI_BYTE, &bytes);
    memset(status, 0xa5, sizeof *status);
    if (count == 0 && bytes == 0) return;
    ++wrong;
    printf("BUG: %s of 3 elements without size: MPI_Get_count gives %d, %d bytes\n", call, count, bytes);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_File file;
    MPI_Status status;
    MPI_Datatype type;
    int data[4] = {1, 2, 3, 4};
    char path[] = "/tmp/assay_file_zero_size_status_XXXXXX"; // another library may run this at the same time
    MPI_Type_contiguous(0, MPI_INT, &type);
    MPI_Type_commit(&type);
    if (mkstemp(path) < 0) return 2;
    MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                  &file);
    memset(&status, 0xa5, sizeof status);
    MPI_File_write_all(file, data, 3, type, &status);
    judge("MPI_File_write_all", &status, type);
    MPI_File_write_at_all(file, 0, data, 3, type, &status);
    judge("MPI_File_write_at_all", &status, type);
    MPI_File_read_all(file, data, 3, type, &status);
    judge("MPI_File_read_all", &status, type);
    MPI_File_read_at_all(file, 0, data, 3, type, &status);
    judge("MPI_File_read_at_all", &status, type);
    MPI_File_write_ordered(file, data, 3, type, &status);
    judge("MPI_File_write_ordered", &status, type);
    MPI_File_read_ordered(file, data, 3, type, &status);
    judge("MPI_File_read_ordered", &status, type);
    MPI_File_close(&file);
    MPI_Type_free(&type);
    if (wrong == 0) puts("OK");
    MPI_Finalize();
    return wrong != 0;
}
