/* Intel MPI: MPI_Reduce of elements with gaps gives wrong sums from 16 KiB on, until their data alone is 20 KiB.
 *
 * build: mpicc intel_reduce_gaps.c -o intel_reduce_gaps        run: mpiexec -n 4 ./intel_reduce_gaps
 * MPI-5.0 section 6.9.1: the elements of all processes are combined by the operation, element by element; 6.9.5: the
 *   function of the user finds elements of the datatype that was given, which may have gaps.
 * expected: the sum of each element, whatever their number.
 * observed: from 683 elements of 24 bytes on, of which 11 are data, the last ones are wrong, two more with each; from
 *   1,862 on (20 KiB of data) all are right again. It depends on the processor, by which the library chooses how to
 *   reduce.
 */
// run: np=4 timeout=60 by=processor
#include <mpi.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

struct padded {
    char c;
    double d;
    short s;
};

static void add(void* in, void* inout, int* length, MPI_Datatype* type) {
    (void)type;
    struct padded const* const a = in;
    struct padded* const b = inout;
    for (int i = 0; i < *length; ++i) b[i].c += a[i].c, b[i].d += a[i].d, b[i].s += a[i].s;
}

int main(int argc, char** argv) {
    int const lengths[] = {1, 1, 1};
    MPI_Aint const places[] = {offsetof(struct padded, c), offsetof(struct padded, d), offsetof(struct padded, s)};
    MPI_Datatype const types[] = {MPI_CHAR, MPI_DOUBLE, MPI_SHORT};
    int rank, size, wrong_counts = 0, first = 0, last = 0;
    MPI_Datatype type;
    MPI_Op op;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Type_create_struct(3, lengths, places, types, &type);
    MPI_Type_commit(&type);
    MPI_Op_create(add, 1, &op);
    for (int n = 1; n <= 4000; n += 31) {
        struct padded* const in = calloc((size_t)n, sizeof *in);
        struct padded* const out = calloc((size_t)n, sizeof *out);
        for (int i = 0; i < n; ++i) in[i] = (struct padded){(char)(i % 7 + rank), i + 10.0 * rank, (short)(i + rank)};
        MPI_Reduce(in, out, n, type, op, 0, MPI_COMM_WORLD);
        int wrong = 0, ranks = size * (size - 1) / 2; // the sum of all ranks
        for (int i = 0; rank == 0 && i < n; ++i)
            wrong += out[i].c != (char)(size * (i % 7) + ranks) || out[i].d != size * (double)i + 10.0 * ranks ||
                     out[i].s != (short)(size * i + ranks);
        if (wrong) first = first ? first : n, last = n, ++wrong_counts;
        free(in), free(out);
    }
    if (rank == 0 && wrong_counts)
        printf("BUG: wrong for %d counts, from %d to %d elements\n", wrong_counts, first, last);
    if (rank == 0 && !wrong_counts) printf("OK\n");
    MPI_Op_free(&op);
    MPI_Type_free(&type);
    MPI_Finalize();
    return wrong_counts != 0;
}
