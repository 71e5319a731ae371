/* Open MPI: MPI_Win_shared_query rounds sizes up to pages in windows that need not be contiguous.
 *
 * build: mpicc openmpi_shared_query_size.c -o shared_query_size     run: mpiexec -n 2 ./shared_query_size
 * MPI-5.0 section 12.2.3: MPI_Win_shared_query gives the size of the window segment, that is what the process of that rank
 *   passed to MPI_Win_allocate_shared.
 * expected: 100 bytes, with and without alloc_shared_noncontig.
 * observed: 4096 with alloc_shared_noncontig and more than one process.
 */
// run: np=2 timeout=20
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    MPI_Aint size = -1;
    int rank, unit = -1;
    void *memory = NULL, *base = NULL;
    MPI_Win win;
    MPI_Info info;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Info_create(&info);
    MPI_Info_set(info, "alloc_shared_noncontig", "true");
    MPI_Win_allocate_shared(100, 1, info, MPI_COMM_WORLD, &memory, &win);
    MPI_Win_shared_query(win, 1, &size, &unit, &base);
    if (rank == 0) printf("%s: a segment of 100 bytes has %ld\n", size == 100 ? "OK" : "BUG", (long)size);
    MPI_Info_free(&info);
    MPI_Win_free(&win);
    MPI_Finalize();
    return size != 100;
}
