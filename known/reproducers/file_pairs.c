/* MPICH 4.0, Intel MPI: datatypes made of pairs are written to files with the gaps and without the rest.
 *
 * build: mpicc file_pairs.c -o file_pairs        run: mpiexec -n 1 ./file_pairs
 * MPI-5.0 section 14.4.1.4: the memory of a data access is described as in communication: the data of the datatype, without
 *   gaps (5.1.11); 6.9.4: MPI_DOUBLE_INT is as if made by MPI_Type_create_struct.
 * expected: an element of MPI_Type_contiguous(2, MPI_DOUBLE_INT) is written and read back.
 * observed: other bytes come back: its 24 bytes of data are taken from the first 24 of its 32 bytes.
 */
// run: np=1 timeout=20
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

struct pair {
    double value;
    int index;
};

int main(int argc, char** argv) {
    struct pair out[4] = {{1, 1}, {2, 2}, {3, 3}, {4, 4}}, in[4] = {{0, 0}};
    MPI_Datatype type;
    MPI_File file;
    int wrong = 0;
    char path[] = "/tmp/assay_file_pairs-XXXXXX";
    MPI_Init(&argc, &argv);
    if (mkstemp(path) < 0) return 2;
    MPI_Type_contiguous(2, MPI_DOUBLE_INT, &type);
    MPI_Type_commit(&type);
    MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
    MPI_File_write_at(file, 0, out, 2, type, MPI_STATUS_IGNORE);
    MPI_File_read_at(file, 0, in, 2, type, MPI_STATUS_IGNORE);
    for (int i = 0; i < 4; ++i) wrong += in[i].value != out[i].value || in[i].index != out[i].index;
    printf("%s: %d of 4 pairs are wrong\n", wrong ? "BUG" : "OK", wrong);
    MPI_File_close(&file);
    MPI_Type_free(&type);
    MPI_Finalize();
    return wrong != 0;
}
