/* MPICH, Intel MPI: a struct of an int, a double and shorts cannot be accessed in external32.
 *
 * build: mpicc file_external32_struct.c -o struct     run: mpiexec -n 1 ./struct
 * MPI-5.0 section 14.5.2: all implementations support external32; data items stand one after the other, each converted by itself.
 * expected: 18 bytes in the file, of which the first is the highest of the int.
 * observed: the process is ended by a signal.
 */
// run: np=1 timeout=20
#include <mpi.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
    struct mixed {
        int number;
        double real;
        short three[3];
    } const out = {0x01020304, 1.5, {1, 2, 3}};
    MPI_File file;
    MPI_Datatype memory, packed, there;
    MPI_Datatype const of[] = {MPI_INT, MPI_DOUBLE, MPI_SHORT};
    int const lengths[] = {1, 1, 3};
    MPI_Aint const places[] = {offsetof(struct mixed, number), offsetof(struct mixed, real),
                               offsetof(struct mixed, three)};
    MPI_Aint const in_file[] = {0, 4, 12};
    unsigned char found[18] = "";
    char path[] = "/tmp/assay_external32_struct-XXXXXX";
    MPI_Init(&argc, &argv);
    MPI_Type_create_struct(3, lengths, places, of, &memory);
    MPI_Type_create_struct(3, lengths, in_file, of, &packed);
    MPI_Type_create_resized(packed, 0, 18, &there);
    MPI_Type_commit(&memory);
    MPI_Type_commit(&there);
    if (mkstemp(path) < 0) return 2;
    MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                  &file);
    MPI_File_set_view(file, 0, there, there, "external32", MPI_INFO_NULL);
    MPI_File_write_at(file, 0, &out, 1, memory, MPI_STATUS_IGNORE);
    MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
    MPI_File_read_at(file, 0, found, 18, MPI_BYTE, MPI_STATUS_IGNORE);
    int const wrong = found[0] != 1 || found[3] != 4 || found[4] != 0x3f || found[13] != 1 || found[17] != 3;
    if (wrong)
        printf("BUG: found %02x … %02x %02x … %02x … %02x\n", found[0], found[3], found[4], found[13], found[17]);
    else puts("OK");
    MPI_File_close(&file);
    MPI_Finalize();
    return wrong;
}
