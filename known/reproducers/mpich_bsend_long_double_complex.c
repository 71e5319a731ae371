/* MPICH: a buffered send of MPI_C_LONG_DOUBLE_COMPLEX to oneself aborts in the receive.
 *
 * build: mpicc mpich_bsend_long_double_complex.c -o complex   run: mpiexec -n 2 ./complex
 * MPI-5.0 sections 3.4, 3.6: a buffered send differs from MPI_Send only in when it completes. The buffer has the size that
 *   3.6.1 asks for: MPI_Pack_size + MPI_BSEND_OVERHEAD.
 * expected: 2,097,152 bytes arrive as they were sent.
 * observed: an assertion of the library fails in MPI_Wait: the segments of the packed message end within a
 *   basic element of 32 bytes (the cause is that of mpich_packed_split.c).
 */
// run: np=2 timeout=10
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
    enum { n = 65536 };
    static long double out[2 * n], in[2 * n]; // real and imaginary parts
    int rank, room, wrong = 0;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int k = 0; k < 2 * n; ++k) out[k] = k;
    MPI_Pack_size(n, MPI_C_LONG_DOUBLE_COMPLEX, MPI_COMM_WORLD, &room);
    room += MPI_BSEND_OVERHEAD;
    void* space = malloc(room);
    MPI_Buffer_attach(space, room);
    MPI_Irecv(in, n, MPI_C_LONG_DOUBLE_COMPLEX, rank, 0, MPI_COMM_WORLD, &request);
    MPI_Bsend(out, n, MPI_C_LONG_DOUBLE_COMPLEX, rank, 0, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Buffer_detach(&space, &room);
    for (int k = 0; k < 2 * n; ++k) wrong += in[k] != k;
    if (wrong || rank == 0) printf("%s: %d of %d long doubles wrong\n", wrong ? "BUG" : "OK", wrong, 2 * n);
    free(space);
    MPI_Finalize();
    return wrong != 0;
}
