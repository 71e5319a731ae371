/* Open MPI 4.1: what processes of a Cartesian communicator write together is now and then not what is in the file.
 *
 * build: mpicc openmpi_file_cart.c -o file_cart        run: mpiexec -n 4 --oversubscribe ./file_cart
 * MPI-5.0 section 14.4.3: MPI_File_write_all writes the data of each process of the group where its view and its pointer are; section 8.1:
 *   a virtual topology is no more than an attribute of a communicator.
 * expected: OK, as with MPI_COMM_WORLD.
 * observed: bytes of other memory in the place of one process, in some of 100 files (Open MPI 4.1.4, Debian).
 */
// run: np=4 timeout=240
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char** argv) {
    enum { rounds = 400, pieces = 2, count = 17, header = 13 };
    char const* const name = "openmpi_file_cart.data";
    int rank, ranks, dims[2] = {0, 0}, periods[2] = {1, 1}, bad = 0;
    long long mine[count];
    MPI_Comm grid;
    MPI_Datatype own;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Dims_create(ranks, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
    if (argc > 1) grid = MPI_COMM_WORLD; /* for comparison */
    MPI_Comm_rank(grid, &rank);
    MPI_Type_create_resized(MPI_LONG_LONG, 0, (MPI_Aint)(ranks * sizeof mine[0]), &own);
    MPI_Type_commit(&own);
    for (int k = 0; k < rounds; ++k) {
        MPI_File file;
        MPI_File_open(grid, name, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
        MPI_File_set_view(file, header + (MPI_Offset)(rank * sizeof mine[0]), MPI_LONG_LONG, own, "native",
                          MPI_INFO_NULL);
        for (int p = 0; p < pieces; ++p) {
            memset(mine, 1 + (k + rank) % 100, sizeof mine);
            MPI_File_write_all(file, mine, count, MPI_LONG_LONG, MPI_STATUS_IGNORE);
        }
        MPI_File_close(&file);
        MPI_Barrier(grid);
        if (rank == 0) {
            FILE* const found = fopen(name, "rb");
            fseek(found, header, SEEK_SET);
            for (int b = 0; b < pieces * ranks * (int)sizeof mine; ++b)
                bad += fgetc(found) != 1 + (k + b / (int)sizeof mine[0] % ranks) % 100;
            fclose(found);
            remove(name);
        }
        MPI_Barrier(grid);
    }
    if (rank == 0) printf("%s: %d bytes wrong in %d files\n", bad ? "BUG" : "OK", bad, rounds);
    MPI_Type_free(&own);
    MPI_Finalize();
    return bad != 0;
}
