/* Open MPI: MPI_Gatherv on an intercommunicator takes the datatype of the first sender for that of all senders.
 *
 * build: mpicc openmpi_inter_gatherv.c -o inter_gatherv        run: mpiexec -n 4 ./inter_gatherv
 * MPI-5.0 section 6.5: only the type signatures of sendcount, sendtype at process i and of recvcounts[i], recvtype at the root
 *   must be equal; the type maps may be different.
 * expected: 8 and 16 integers, sent as one element each of a datatype of that many, arrive.
 * observed: MPI_ERR_TRUNCATE, or a damaged heap: the first sender gathers the data of its group first.
 */
// run: np=4 timeout=20
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
    enum { n = 8 }; // the second sender has twice as much
    int rank, out[2 * n], in[3 * n] = {0}, counts[2] = {n, 2 * n}, places[2] = {0, n}, code, wrong = 0;
    MPI_Comm side, inter;
    MPI_Datatype whole;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank < 2, 0, &side);
    MPI_Intercomm_create(side, 0, MPI_COMM_WORLD, rank < 2 ? 2 : 0, 0, &inter);
    MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
    MPI_Type_contiguous(counts[rank % 2], MPI_INT, &whole);
    MPI_Type_commit(&whole);
    for (int i = 0; i < 2 * n; ++i) out[i] = 1 + i + (rank == 3) * n;
    int const root = rank >= 2 ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
    code = MPI_Gatherv(out, 1, whole, in, counts, places, MPI_INT, root, inter);
    for (int i = 0; i < 3 * n && rank == 0; ++i) wrong += in[i] != 1 + i;
    if (code != MPI_SUCCESS || wrong) {
        printf("BUG: rank %d: MPI_Gatherv returned %s, %d of %d elements are wrong\n", rank,
               code ? "an error" : "MPI_SUCCESS", wrong, 3 * n);
        fflush(stdout);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) puts("OK");
    MPI_Finalize();
    return 0;
}
