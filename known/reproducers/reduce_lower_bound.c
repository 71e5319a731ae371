/* MPICH, Open MPI, Intel MPI: reductions by a user-defined operation mistake where the data of an element begins.
 *
 * build: mpicc reduce_lower_bound.c -o reduce_lower_bound        run: mpiexec -n 2 ./reduce_lower_bound
 * MPI-5.0 section 6.9.5: general datatypes may be passed to the user function, which finds the elements of both vectors
 *   where the datatype says.
 * expected: the sum, whether the data of an element begins before, at or after the address of the vector.
 * observed: wrong sums and a damaged heap, or a crash, where the true lower bound is not 0. MPICH with several processes on
 *   a node (algorithm release_gather; MPIR_CVAR_DEVICE_COLLECTIVES=none avoids it), Open MPI in the ring of MPI_Allreduce, Intel MPI with few elements.
 */
// run: np=2 timeout=30
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { n = 5000 };
static int shift; // of the integer in its element, in integers

static void add(void* in, void* inout, int* length, MPI_Datatype* type) {
    (void)type;
    for (int i = 0; i < *length; ++i) ((int*)inout)[i + shift] += ((int*)in)[i + shift];
}

static void damaged(int signal) {
    (void)signal;
    static char const text[] = "BUG: the heap is damaged, or memory beyond it was touched\n";
    (void)!write(1, text, sizeof text - 1);
    _exit(1);
}

int main(int argc, char** argv) {
    int rank, size, wrong = 0;
    MPI_Op op;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Op_create(add, 1, &op);
    signal(SIGABRT, damaged);
    signal(SIGSEGV, damaged);
    int* out = calloc(n + 8, sizeof(int));
    int* in = calloc(n + 8, sizeof(int));
    for (shift = 2; shift >= -2; shift -= 2) {
        int const one = 1;
        MPI_Aint const bytes = shift * (MPI_Aint)sizeof(int);
        MPI_Datatype shifted;
        MPI_Type_create_hindexed(1, &one, &bytes, MPI_INT, &shifted);
        MPI_Type_commit(&shifted);
        int here = 0;
        for (int round = 0; round < 20; ++round) {
            int const m = round < 10 ? n : round - 9; // algorithms depend on the size
            for (int i = 0; i < m; ++i) out[i + shift + 4] = i + rank + round;
            MPI_Allreduce(out + 4, in + 4, m, shifted, op, MPI_COMM_WORLD);
            for (int i = 0; i < m; ++i) here += in[i + shift + 4] != size * (i + round) + size * (size - 1) / 2;
        }
        if (here > 0 && rank == 0) printf("lower bound %d: %d elements are wrong\n", shift * (int)sizeof(int), here);
        wrong += here;
        MPI_Type_free(&shifted);
    }
    if (wrong || rank == 0) printf("%s: %d elements are wrong\n", wrong ? "BUG" : "OK", wrong);
    free(out), free(in);
    MPI_Op_free(&op);
    MPI_Finalize();
    return wrong != 0;
}
