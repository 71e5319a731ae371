/* Partitioned communication of a struct of different types: what is after the first 102,400 bytes of data does not arrive.
 *
 * build: mpicc mpich_partitioned_cut.c -o cut
 * run: MPIR_CVAR_CH4_NETMOD=ofi MPIR_CVAR_NOLOCAL=1 FI_PROVIDER=tcp mpiexec -n 2 ./cut
 * MPI-5.0 section 4.2.2: when a partitioned receive is complete, all partitions are in the receive buffer.
 * expected: OK.
 * observed: elements from 11,378 on (each of 9 bytes of data) stay as they were (MPICH 5.0.2 over libfabric).
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
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Type_create_struct(2, lengths, where, parts, &mixed);
    MPI_Type_commit(&mixed);
    if (rank == 0) {
        for (int i = 0; i < elements; ++i) data[i].l = i + 1;
        MPI_Psend_init(data, 1, elements, mixed, 1, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
        MPI_Start(&request);
        MPI_Pready(0, request);
    } else {
        MPI_Precv_init(data, 1, elements, mixed, 0, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
        MPI_Start(&request);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < elements && rank == 1; ++i) wrong += data[i].l != i + 1;
    if (rank == 1 && wrong) printf("BUG: %d of %d elements did not arrive\n", wrong, elements);
    if (rank == 1 && !wrong) puts("OK");
    MPI_Request_free(&request);
    MPI_Type_free(&mixed);
    MPI_Finalize();
    return wrong != 0;
}
