/* A struct of a char and an MPI_SHORT_INT cannot be received: its own data are taken for those of another signature.
 *
 * build: mpicc mpich_recv_short_int.c -o short_int
 * run: MPIR_CVAR_CH4_NETMOD=ofi MPIR_CVAR_NOLOCAL=1 FI_PROVIDER=tcp mpiexec -n 2 ./short_int
 * MPI-5.0 sections 3.3.1, 5.1.11: sender and receiver name the same datatype.
 * expected: OK.
 * observed: MPI_ERR_TYPE, "signature does not match", for one element (MPICH 5.0.2 over libfabric).
 */
// run: np=2 timeout=20 transport=tcp
#include <mpi.h>
#include <stddef.h>
#include <stdio.h>

struct nested {
    char c;
    struct {
        short s;
        int i;
    } pair;
};

int main(int argc, char** argv) {
    int rank, error = MPI_SUCCESS, lengths[2] = {1, 1};
    MPI_Aint const where[2] = {offsetof(struct nested, c), offsetof(struct nested, pair)};
    MPI_Datatype const parts[2] = {MPI_CHAR, MPI_SHORT_INT};
    MPI_Datatype nested;
    struct nested data = {'a', {1, 2}};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Type_create_struct(2, lengths, where, parts, &nested);
    MPI_Type_commit(&nested);
    if (rank == 0) {
        MPI_Send(&data, 1, nested, 1, 0, MPI_COMM_WORLD);
    } else {
        error = MPI_Recv(&data, 1, nested, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        puts(error ? "BUG: MPI_Recv fails" : "OK");
    }
    MPI_Type_free(&nested);
    MPI_Finalize();
    return error != MPI_SUCCESS;
}
