/* Intel MPI and MPICH before 4.1: a read into a datatype whose lower bound is negative writes before the buffer.
 *
 * build: mpicc file_read_lower_bound.c -o read_lower_bound        run: mpiexec -n 1 ./read_lower_bound
 * MPI-5.0 sections 5.1.7 and 14.4: the bounds of a datatype say where its next copy begins, not where its data lie; data go to
 *   the places of its type map.
 * expected: a double and an int with the lower bound moved to -16: two of them, read at once, lie at 0 and 48.
 * observed: they lie 16 bytes before that (Intel MPI 2021.19.0, MPICH 4.0.3).
 */
// run: np=1 timeout=20
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char** argv) {
    char name[] = "/tmp/assay_read_lb_XXXXXX", room[256];
    int const lengths[2] = {1, 1};
    MPI_Aint const at[2] = {0, 8};
    MPI_Datatype const parts[2] = {MPI_DOUBLE, MPI_INT};
    MPI_Datatype pair, wide;
    MPI_File file;
    double value = 0;
    int wrong, fd;
    MPI_Init(&argc, &argv);
    if ((fd = mkstemp(name)) < 0) MPI_Abort(MPI_COMM_WORLD, 2);
    for (int i = 1; i <= 2; ++i) {
        double const real = i;
        if (write(fd, &real, sizeof real) < 0 || write(fd, &i, sizeof i) < 0) MPI_Abort(MPI_COMM_WORLD, 2);
    }
    close(fd);
    MPI_Type_create_struct(2, lengths, at, parts, &pair);
    MPI_Type_create_resized(pair, -16, 48, &wide);
    MPI_Type_commit(&wide);
    memset(room, '-', sizeof room);
    MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
    MPI_File_read_at(file, 0, room + 64, 2, wide, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    unlink(name);
    memcpy(&value, room + 64, sizeof value);
    wrong = value != 1;
    for (int i = 0; i < 64; ++i) wrong |= room[i] != '-';
    puts(wrong ? "BUG: the first element does not lie at the beginning of the buffer" : "OK");
    MPI_Type_free(&pair);
    MPI_Type_free(&wide);
    MPI_Finalize();
    return wrong;
}
