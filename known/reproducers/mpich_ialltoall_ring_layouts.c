/* MPICH: MPI_Ialltoall by the algorithm tsp_ring when sender and receiver describe a block in different ways.
 *
 * build: mpicc mpich_ialltoall_ring_layouts.c -o ialltoall_ring       run: mpiexec -n 2 ./ialltoall_ring
 * MPI-5.0 section 6.8: the type signature of a block must be the same for both sides; distinct type maps are allowed.
 * expected: six ints of each process, at the places of the receive datatype.
 * observed: they lie in another order (MPICH 5.0.2).
 */
// run: np=2 timeout=20
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
    int rank, size, wrong = 0, out[6 * 16], in[6 * 16];
    int const lengths[6] = {1, 1, 1, 1, 1, 1}, places[6] = {5, 4, 3, 2, 1, 0};
    MPI_Datatype backwards;
    MPI_Request request;
    setenv("MPIR_CVAR_IALLTOALL_INTRA_ALGORITHM", "tsp_ring", 1);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Type_indexed(6, lengths, places, MPI_INT, &backwards);
    MPI_Type_commit(&backwards);
    for (int i = 0; i < 6 * size; ++i) {
        out[i] = 100 * rank + i;
        in[i] = -1;
    }
    MPI_Ialltoall(out, 6, MPI_INT, in, 1, backwards, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < 6 * size; ++i) wrong += in[6 * (i / 6) + 5 - i % 6] != 100 * (i / 6) + 6 * rank + i % 6;
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) printf("%s: %d ints are wrong\n", wrong ? "BUG" : "OK", wrong);
    MPI_Type_free(&backwards);
    MPI_Finalize();
    return wrong != 0;
}
