/* ROMIO: a file type that is resized twice lays its data out as if the inner lower bound moved them.
 *
 * build: mpicc file_resized_twice.c -o file_resized_twice        run: mpiexec -n 1 ./file_resized_twice
 * MPI-5.0 sections 5.1.7 (MPI_Type_create_resized changes bounds, not displacements) and 14.3 (file types).
 * expected: with a displacement of 16 bytes and an extent of 32, 3 integers stand at bytes 16, 48 and 80.
 * observed: with an inner lower bound of -8 they stand 8 bytes after that; with one of 8 MPI_File_set_view fails (MPICH 4.0, Intel MPI).
 */
// run: np=1 timeout=20
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char** argv) {
    char name[] = "/tmp/resized-XXXXXX";
    int const data[] = {1, 2, 3};
    int got[24], bad = 0;
    MPI_Datatype inner, outer;
    MPI_File file;
    MPI_Init(&argc, &argv);
    int const fd = mkstemp(name);
    if (fd < 0) return 2;
    for (MPI_Aint lb = -8; lb <= 8; lb += 8) {
        memset(got, 0, sizeof got);
        if (pwrite(fd, got, sizeof got, 0) != sizeof got) return 2;
        MPI_Type_create_resized(MPI_INT, lb, 16, &inner);
        MPI_Type_create_resized(inner, 0, 32, &outer);
        MPI_Type_commit(&outer);
        MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDWR, MPI_INFO_NULL, &file);
        int const error = MPI_File_set_view(file, 16, MPI_INT, outer, "native", MPI_INFO_NULL);
        if (error == MPI_SUCCESS) MPI_File_write_at(file, 0, data, 3, MPI_INT, MPI_STATUS_IGNORE);
        MPI_File_close(&file);
        MPI_Type_free(&inner);
        MPI_Type_free(&outer);
        if (pread(fd, got, sizeof got, 0) != sizeof got) return 2;
        if (error != MPI_SUCCESS || got[4] != 1 || got[12] != 2 || got[20] != 3) {
            printf("BUG: lower bound %d: error %d; %d %d %d at bytes 16, 48, 80, expected 1 2 3\n", (int)lb, error,
                   got[4], got[12], got[20]);
            bad = 1;
        }
    }
    if (!bad) puts("OK");
    unlink(name);
    MPI_Finalize();
    return bad;
}
