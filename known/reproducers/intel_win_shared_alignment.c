/* Intel MPI: with mpi_minimum_memory_alignment MPI_Win_shared_query gives another address than MPI_Win_allocate_shared gave.
 *
 * build: mpicc intel_win_shared_alignment.c -o win_shared_alignment        run: mpiexec -n 2 ./win_shared_alignment
 * MPI-5.0 section 12.2.3: MPI_Win_shared_query gives the address of a memory segment created with MPI_Win_allocate_shared; for
 *   memory in one piece the alignment applies to where that of the first process begins.
 * expected: each process gets, of itself, the address that it has.
 * observed: process 1 gets another one.
 */
// run: np=2 timeout=20
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    int rank, unit, wrong;
    char *base = NULL, *found = NULL;
    MPI_Aint bytes;
    MPI_Info info;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_minimum_memory_alignment", "256");
    MPI_Win_allocate_shared(64, 1, info, MPI_COMM_WORLD, &base, &win);
    MPI_Win_shared_query(win, rank, &bytes, &unit, &found);
    wrong = base != found;
    if (wrong) printf("BUG: rank %d has memory at %p, and the query gives %p\n", rank, (void*)base, (void*)found);
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_LOR, MPI_COMM_WORLD);
    if (!wrong && rank == 0) puts("OK");
    MPI_Info_free(&info);
    MPI_Win_free(&win);
    MPI_Finalize();
    return wrong;
}
