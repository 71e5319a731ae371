/* MPICH, Intel MPI, Open MPI: MPI_Register_datarep refuses conversion functions.
 *
 * build: mpicc file_register_conversion.c -o register     run: mpiexec -n 1 ./register
 * MPI-5.0 section 14.5.3: the functions are associated with the name, and accesses call them.
 * expected: 1 after a write of 1 and a read of it; the file holds the complement.
 * observed: "Read and Write datarep conversions are currently not supported by MPI-IO" (MPICH, Intel MPI), MPI_ERR_OTHER (Open MPI).
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
static int turn_over(int const* from, int* to, int count) {
    for (int i = 0; i < count; ++i) to[i] = ~from[i];
    return MPI_SUCCESS;
}
static int on_read(void* memory, MPI_Datatype type, int count, void* file, MPI_Offset position, void* state) {
    (void)type, (void)state;
    return turn_over(file, (int*)memory + position, count);
}
static int on_write(void* memory, MPI_Datatype type, int count, void* file, MPI_Offset position, void* state) {
    (void)type, (void)state;
    return turn_over((int*)memory + position, file, count);
}

int main(int argc, char** argv) {
    MPI_File file;
    int const out = 1;
    int in = 0, raw = 0;
    char path[] = "/tmp/assay_register_conversion-XXXXXX";
    MPI_Init(&argc, &argv);
    if (mkstemp(path) < 0) return 2;
    MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                  &file);
    int code = MPI_Register_datarep("turned over", on_read, on_write, extent_of, NULL);
    if (code == MPI_SUCCESS) code = MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "turned over", MPI_INFO_NULL);
    if (code == MPI_SUCCESS) code = MPI_File_write_at(file, 0, &out, 1, MPI_INT, MPI_STATUS_IGNORE);
    if (code == MPI_SUCCESS) code = MPI_File_read_at(file, 0, &in, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    MPI_File_read_at(file, 0, &raw, 1, MPI_INT, MPI_STATUS_IGNORE);
    int const wrong = code != MPI_SUCCESS || in != 1 || raw != ~1;
    if (wrong) printf("BUG: code %d, read %d, in the file %d\n", code, in, raw);
    else puts("OK");
    MPI_File_close(&file);
    MPI_Finalize();
    return wrong;
}
