/* MPICH, Intel MPI, Open MPI: a representation without conversion functions cannot be used.
 *
 * build: mpicc file_register_null.c -o null     run: mpiexec -n 1 ./null
 * MPI-5.0 section 14.5.3.2: with MPI_CONVERSION_FN_NULL the access is done in the native representation.
 * expected: the int that was written.
 * observed: MPI_File_set_view returns MPI_ERR_UNSUPPORTED_DATAREP (MPICH, Intel MPI), MPI_Register_datarep MPI_ERR_OTHER (Open MPI).
 */
// run: np=1 timeout=20
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int extent_of(MPI_Datatype type, MPI_Aint* extent, void* state) {
    (void)type, (void)state;
    *extent = sizeof(int);
    return MPI_SUCCESS;
}

int main(int argc, char** argv) {
    MPI_File file;
    int const out = 7;
    int in = 0;
    char path[] = "/tmp/assay_register_null-XXXXXX";
    MPI_Init(&argc, &argv);
    if (mkstemp(path) < 0) return 2;
    MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                  &file);
    int const first = MPI_Register_datarep("as it is", MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, extent_of, NULL);
    int const second = MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "as it is", MPI_INFO_NULL);
    MPI_File_write_at(file, 0, &out, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_read_at(file, 0, &in, 1, MPI_INT, MPI_STATUS_IGNORE);
    int const wrong = first != MPI_SUCCESS || second != MPI_SUCCESS || in != 7;
    if (wrong) printf("BUG: MPI_Register_datarep returns %d, MPI_File_set_view %d\n", first, second);
    else puts("OK");
    MPI_File_close(&file);
    MPI_Finalize();
    return wrong;
}
