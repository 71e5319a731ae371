/* MPICH: a packed message whose segments cut a basic element is not received.
 *
 * build: mpicc mpich_packed_split.c -o packed_split        run: mpiexec -n 2 ./packed_split
 * MPI-5.0 section 5.2: a packing unit can be received with any datatype that matches its content; section 3.4: a
 *   receive takes what was sent in any mode, also in the buffered one.
 * expected: every message arrives whole, whether packed by MPI_Pack or by MPI_Bsend, from a neighbour or from oneself.
 * observed: elements of {char, double}, larger than one cell of shared memory: the receive fails with "Receiving data
 *   with a datatype whose signature does not match" and what follows the cut is not written. MPIDIG_recv_copy_seg gives
 *   each segment to the datatype engine, which cannot unpack a part of a double (pmodels/yaksa issue 206).
 */
// run: np=2 timeout=20
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

struct element {
    char c;
    double d;
};
enum { ways = 3, sizes = 6 };

int main(int argc, char** argv) {
    static char const* const way_names[ways] = {"MPI_Send", "MPI_Pack, sent as MPI_PACKED", "MPI_Bsend"};
    static int const counts[sizes] = {500, 950, 1500, 3000, 6000, 100000};
    int rank, broken = 0;
    MPI_Datatype type;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Type_create_struct(2, (int[]){1, 1}, (MPI_Aint[]){0, 8}, (MPI_Datatype[]){MPI_CHAR, MPI_DOUBLE}, &type);
    MPI_Type_commit(&type);
    for (int self = 0; self < 2; ++self)
        for (int way = 0; way < ways; ++way)
            for (int s = 0; s < sizes; ++s) {
                int const n = counts[s], peer = self ? rank : 1 - rank;
                int packed, position = 0, wrong = 0;
                struct element *out = calloc(n, sizeof *out), *in = calloc(n, sizeof *in);
                MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
                for (int k = 0; k < n; ++k) out[k] = (struct element){(char)(k % 100 + 1), k + 0.5};
                MPI_Pack_size(n, type, MPI_COMM_WORLD, &packed);
                int room = packed + MPI_BSEND_OVERHEAD;
                char* space = malloc(room);
                MPI_Irecv(in, n, type, peer, 0, MPI_COMM_WORLD, &requests[0]);
                MPI_Barrier(MPI_COMM_WORLD);
                if (way == 0) MPI_Isend(out, n, type, peer, 0, MPI_COMM_WORLD, &requests[1]);
                if (way == 1) {
                    MPI_Pack(out, n, type, space, room, &position, MPI_COMM_WORLD);
                    MPI_Isend(space, position, MPI_PACKED, peer, 0, MPI_COMM_WORLD, &requests[1]);
                }
                if (way == 2) {
                    MPI_Buffer_attach(space, room);
                    MPI_Bsend(out, n, type, peer, 0, MPI_COMM_WORLD);
                }
                int const code = MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
                MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
                if (way == 2) MPI_Buffer_detach(&space, &room);
                for (int k = 0; k < n; ++k) wrong += in[k].c != out[k].c || in[k].d != out[k].d;
                if (code != MPI_SUCCESS || wrong > 0) {
                    ++broken;
                    if (rank == 0)
                        printf("%s of %d elements to %s: return code %d, %d elements wrong\n", way_names[way], n,
                               self ? "oneself" : "the other", code, wrong);
                }
                free(space), free(in), free(out);
            }
    if (rank == 0) printf("%s: %d of %d messages arrived wrong\n", broken ? "BUG" : "OK", broken, 2 * ways * sizes);
    MPI_Finalize();
    return broken != 0;
}
