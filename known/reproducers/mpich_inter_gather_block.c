/* MPICH: MPI_Gather and MPI_Scatter on an intercommunicator fail when a block is one element of a large datatype.
 *
 * build: mpicc mpich_inter_gather_block.c -o mpich_inter_gather_block        run: mpiexec -n 4 ./mpich_inter_gather_block
 * MPI-5.0 sections 6.5, 6.6: the type signature of sendcount, sendtype must equal that of recvcount, recvtype; distinct
 *   type maps are allowed.
 * expected: a block of 4096 bytes described as 1 element of MPI_Type_contiguous(4096, MPI_BYTE) arrives.
 * observed: both groups take different algorithms, as if the block had one byte: "Message truncated", or wrong data.
 */
// run: np=4 timeout=20
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { n = 4096 };
static unsigned char one[n], all[8 * n];

int main(int argc, char** argv) {
    int rank, size, wrong = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int const half = size / 2, upper = rank >= half, root = upper ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
    MPI_Comm local, inter;
    MPI_Datatype block;
    MPI_Comm_split(MPI_COMM_WORLD, upper, rank, &local);
    MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, upper ? 0 : half, 1, &inter);
    MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
    MPI_Type_contiguous(n, MPI_BYTE, &block);
    MPI_Type_commit(&block);
    char const* const call = argc > 1 ? argv[1] : "gather";
    int const count = upper ? 1 : 0;
    int error;
    if (strcmp(call, "scatter") != 0) {
        memset(one, rank + 1, n);
        error = MPI_Gather(one, count, upper ? block : MPI_BYTE, all, n, MPI_BYTE, root, inter);
        if (rank == 0)
            for (int i = 0; i < (size - half) * n; ++i) wrong += all[i] != half + i / n + 1;
    } else {
        for (int i = 0; i < (size - half) * n; ++i) all[i] = (unsigned char)(i / n + 1);
        error = MPI_Scatter(all, n, MPI_BYTE, one, count, upper ? block : MPI_BYTE, root, inter);
        if (upper)
            for (int i = 0; i < n; ++i) wrong += one[i] != rank - half + 1;
    }
    if (error != MPI_SUCCESS) ++wrong;
    if (wrong > 0) printf("BUG: %s, rank %d: error %d, %d bytes are wrong\n", call, rank, error, wrong);
    else printf("OK: %s, rank %d\n", call, rank);
    fflush(stdout);
    if (wrong > 0) MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Finalize();
    return 0;
}
