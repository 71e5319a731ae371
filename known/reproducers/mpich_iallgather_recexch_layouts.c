/* MPICH: MPI_Iallgather by recursive exchange when the block of a process is sent and received as different datatypes.
 *
 * build: mpicc mpich_iallgather_recexch_layouts.c -o iallgather_layouts       run: mpiexec -n 2 ./iallgather_layouts
 * MPI-5.0 section 6.7: the type signature of sendcount, sendtype must equal that of recvcount, recvtype; distinct type maps
 *   are allowed.
 * expected: six ints of each process, at the places of the receive datatype.
 * observed: they are wrong, with the algorithms tsp_recexch_doubling and tsp_recexch_halving (MPICH 5.0.2).
 */
// run: np=2 timeout=20
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
    int rank, size, wrong = 0, out[6], in[6 * 16];
    int const lengths[6] = {1, 1, 1, 1, 1, 1}, places[6] = {5, 4, 3, 2, 1, 0};
    MPI_Datatype backwards;
    MPI_Request request;
    setenv("MPIR_CVAR_IALLGATHER_INTRA_ALGORITHM", argc > 1 ? argv[1] : "tsp_recexch_doubling", 1);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Type_indexed(6, lengths, places, MPI_INT, &backwards);
    MPI_Type_commit(&backwards);
    for (int k = 0; k < 6; ++k) out[k] = 100 * rank + k;
    for (int i = 0; i < 6 * size; ++i) in[i] = -1;
    MPI_Iallgather(out, 6, MPI_INT, in, 1, backwards, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < 6 * size; ++i) wrong += in[6 * (i / 6) + 5 - i % 6] != 100 * (i / 6) + i % 6;
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) printf("%s: %d ints are wrong\n", wrong ? "BUG" : "OK", wrong);
    MPI_Type_free(&backwards);
    MPI_Finalize();
    return wrong != 0;
}
