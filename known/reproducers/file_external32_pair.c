/* MPI_2INT in a file with the representation external32 aborts the process or comes back unconverted.
 *
 * build: mpicc file_external32_pair.c -o pair     run: mpiexec -n 1 ./pair
 * MPI-5.0 section 14.5.2: all implementations are required to support external32; MPI_2INT is as if made by
 *   MPI_Type_contiguous of two MPI_INT (section 6.9.4).
 * expected: the values that were written, big-endian in the file.
 * observed: an assertion fails in typerep_yaksa_pack_external.c (MPICH 4.0.2 to 5.0.2, Intel MPI 2021.19).
 */
// run: np=1 timeout=20
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_File file;
    int const out[4] = {1, 2, 3, 4};
    int in[4] = {0, 0, 0, 0}, wrong = 0;
    unsigned char bytes[16] = {0};
    char path[] = "/tmp/assay_external32_pair-XXXXXX";
    if (mkstemp(path) < 0) return 2;
    MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                  &file);
    MPI_File_set_view(file, 0, MPI_2INT, MPI_2INT, "external32", MPI_INFO_NULL);
    MPI_File_write_at(file, 0, out, 2, MPI_2INT, MPI_STATUS_IGNORE);
    MPI_File_read_at(file, 0, in, 2, MPI_2INT, MPI_STATUS_IGNORE);
    MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
    MPI_File_read_at(file, 0, bytes, 16, MPI_BYTE, MPI_STATUS_IGNORE);
    for (int i = 0; i < 4; ++i) wrong += in[i] != out[i] || bytes[4 * i + 3] != i + 1 || bytes[4 * i] != 0;
    MPI_File_close(&file);
    if (wrong == 0) puts("OK");
    else printf("BUG: %d of 4 values are wrong\n", wrong);
    MPI_Finalize();
    return wrong != 0;
}
