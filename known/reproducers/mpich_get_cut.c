/* MPI_Get of elements of different types: what is after the first 102,400 bytes of data does not arrive.
 *
 * build: mpicc mpich_get_cut.c -o cut
 * run: MPIR_CVAR_CH4_NETMOD=ofi MPIR_CVAR_NOLOCAL=1 FI_PROVIDER=tcp mpiexec -n 2 ./cut
 * MPI-5.0 section 12.3.2: the data of all elements are copied from the target to the origin.
 * expected: OK.
 * observed: elements from 11,378 on (each of 9 bytes of data) stay as they were (MPICH 4.3.2 and 5.0.2 over libfabric).
 */
// run: np=2 timeout=20 transport=tcp
#include <mpi.h>
#include <stdio.h>

enum { elements = 20000 };
struct mixed {
    char c;
    long l;
};
static struct mixed data[elements];

int main(int argc, char** argv) {
    int rank, wrong = 0, lengths[2] = {1, 1};
    MPI_Aint const where[2] = {0, 8};
    MPI_Datatype const parts[2] = {MPI_CHAR, MPI_LONG};
    MPI_Datatype mixed;
    MPI_Win window;
    struct mixed* base;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Type_create_struct(2, lengths, where, parts, &mixed);
    MPI_Type_commit(&mixed);
    MPI_Win_allocate(sizeof data, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, window); // without it others need not see what is stored here (12.7)
    for (int i = 0; i < elements; ++i) base[i].c = 0, base[i].l = i + 1;
    MPI_Win_unlock(rank, window);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) {
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
        MPI_Get(data, elements, mixed, 0, 0, elements, mixed, window);
        MPI_Win_unlock(0, window);
        for (int i = 0; i < elements; ++i) wrong += data[i].l != i + 1;
        if (wrong) printf("BUG: %d of %d elements did not arrive\n", wrong, elements);
        else puts("OK");
    }
    MPI_Win_free(&window);
    MPI_Type_free(&mixed);
    MPI_Finalize();
    return wrong != 0;
}
