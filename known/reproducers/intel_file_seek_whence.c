/* Intel MPI after the ABI of MPI-5.0: MPI_File_seek mistakes MPI_SEEK_SET, MPI_SEEK_CUR and MPI_SEEK_END for each other.
 *
 * build: mpicc intel_file_seek_whence.c -o intel_file_seek_whence        run: mpiexec -n 1 ./intel_file_seek_whence
 * MPI-5.0 sections 14.4.3 (MPI_File_seek) and A.1.1 (values of the constants in the ABI).
 * expected: positions 8, 12 and 32 in a file of 32 bytes.
 * observed: MPI_SEEK_SET counts from the end of the file, MPI_SEEK_END from the position.
 */
// run: np=1 timeout=20
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char** argv) {
    static int const whence[] = {MPI_SEEK_SET, MPI_SEEK_CUR, MPI_SEEK_END};
    static MPI_Offset const by[] = {8, 4, 0}, expected[] = {8, 12, 32};
    char name[] = "/tmp/seek-XXXXXX", text[32];
    int bad = 0;
    MPI_File file;
    MPI_Init(&argc, &argv);
    if (mkstemp(name) < 0) return 2;
    MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
    memset(text, 'x', sizeof text);
    MPI_File_write_at(file, 0, text, sizeof text, MPI_CHAR, MPI_STATUS_IGNORE);
    for (int i = 0; i < 3; ++i) {
        MPI_Offset is = -1;
        MPI_File_seek(file, by[i], whence[i]);
        MPI_File_get_position(file, &is);
        if (is != expected[i])
            printf("seek %d: position %lld, expected %lld\n", i, (long long)is, (long long)expected[i]), ++bad;
    }
    MPI_File_close(&file);
    printf("%s: %d of 3 positions are wrong\n", bad ? "BUG" : "OK", bad);
    MPI_Finalize();
    return bad != 0;
}
