/* MPICH: MPI_Alltoall and MPI_Ialltoall by Bruck's algorithm when the processes describe their blocks in different ways.
 *
 * build: mpicc mpich_alltoall_brucks_layouts.c -o alltoall_layouts       run: mpiexec -n 2 ./alltoall_layouts
 * MPI-5.0 section 6.8: the type signatures of a block must be equal for each pair of processes; distinct type maps are allowed.
 * expected: six ints from each process, in their order.
 * observed: those of a process that has another receive datatype come in another order, with the algorithms k_brucks and
 *   tsp_brucks (MPICH 5.0.2): blocks travel as they lie in memory, not in the order of the type map.
 */
// run: np=2 timeout=20
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
    int rank, size, wrong = 0;
    int const lengths[6] = {1, 1, 1, 1, 1, 1}, places[6] = {5, 4, 3, 2, 1, 0};
    MPI_Datatype backwards;
    setenv("MPIR_CVAR_ALLTOALL_INTRA_ALGORITHM", "k_brucks", 1);
    setenv("MPIR_CVAR_IALLTOALL_INTRA_ALGORITHM", "tsp_brucks", 1);
    setenv("MPIR_CVAR_DEVICE_COLLECTIVES", "none", 1);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Type_indexed(6, lengths, places, MPI_INT, &backwards);
    MPI_Type_commit(&backwards);
    for (int nonblocking = 0; nonblocking < 2; ++nonblocking) {
        int out[6 * 16], in[6 * 16];
        int const even =
            rank % 2 == 0; /* sends six ints and receives one element that lies backwards; odd ranks the opposite */
        MPI_Datatype const sent = even ? MPI_INT : backwards, received = even ? backwards : MPI_INT;
        MPI_Request request = MPI_REQUEST_NULL;
        for (int i = 0; i < 6 * size; ++i) {
            int const block = i / 6, k = i % 6;
            out[even ? i : 6 * block + 5 - k] = 100 * rank + 10 * block + k;
            in[i] = -1;
        }
        if (nonblocking) MPI_Ialltoall(out, even ? 6 : 1, sent, in, even ? 1 : 6, received, MPI_COMM_WORLD, &request);
        else MPI_Alltoall(out, even ? 6 : 1, sent, in, even ? 1 : 6, received, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        for (int i = 0; i < 6 * size; ++i) {
            int const block = i / 6, k = i % 6;
            wrong += in[even ? 6 * block + 5 - k : i] != 100 * block + 10 * rank + k;
        }
    }
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) printf("%s: %d ints are wrong\n", wrong ? "BUG" : "OK", wrong);
    MPI_Type_free(&backwards);
    MPI_Finalize();
    return wrong != 0;
}
