/* Open MPI 4.1: in atomic mode the pieces of overlapping accesses with holes mix.
 *
 * build: mpicc openmpi_file_atomicity.c -o atomicity     run: mpiexec -n 2 ./atomicity
 * MPI-5.0 section 14.6.1: in atomic mode each data access appears as one: conflicting accesses are sequentially consistent.
 * expected: after two processes have written the same 1000 integers of every second place, all are of one process.
 * observed: some are of one, some of the other (component ompio).
 */
// run: np=2 timeout=30 runs=5
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { n = 1000, rounds = 100 };

int main(int argc, char** argv) {
    MPI_File file;
    MPI_Datatype every_second;
    int rank, mixed = 0, data[n];
    char path[] = "/tmp/assay_file_atomicity_XXXXXX"; // another library may run this at the same time
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &every_second);
    MPI_Type_commit(&every_second);
    if (rank == 0 && mkstemp(path) < 0) MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_Bcast(path, sizeof path, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                  &file);
    MPI_File_set_view(file, 0, MPI_INT, every_second, "native", MPI_INFO_NULL);
    MPI_File_set_atomicity(file, 1);
    for (int round = 0; round < rounds; ++round) {
        for (int i = 0; i < n; ++i) data[i] = 2 * round + rank;
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_File_write_at(file, 0, data, n, MPI_INT, MPI_STATUS_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_File_read_at(file, 0, data, n, MPI_INT, MPI_STATUS_IGNORE);
        for (int i = 1; i < n; ++i)
            if (data[i] != data[0]) {
                ++mixed;
                break;
            }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (rank == 0 || mixed) printf("%s: %d of %d writes are mixed\n", mixed ? "BUG" : "OK", mixed, rounds);
    MPI_File_close(&file);
    MPI_Type_free(&every_second);
    MPI_Finalize();
    return mixed != 0;
}
