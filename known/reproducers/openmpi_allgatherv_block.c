/* Open MPI: processes of MPI_Allgatherv choose different algorithms when they describe their own blocks in different ways.
 *
 * build: mpicc openmpi_allgatherv_block.c -o allgatherv_block        run: mpiexec -n 4 ./allgatherv_block
 * MPI-5.0 section 6.7: the type signature of sendcount, sendtype at process j must equal that of recvcounts[j], recvtype at
 *   any process; the type maps may be different.
 * expected: blocks of 70, 80, 30 and 70 integers, each sent as one element of a datatype of that size.
 * observed: no end, or MPI_ERR_TRUNCATE: the choice depends on the size of the process's own sendtype.
 */
// run: np=4 timeout=45
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static void late(int signal) {
    (void)signal;
    static char const text[] = "BUG: MPI_Allgatherv has not returned after 30 seconds\n";
    (void)!write(1, text, sizeof text - 1);
    _exit(1);
}

int main(int argc, char** argv) {
    enum { most = 16 };
    int rank, size, code = MPI_SUCCESS, wrong = 0, all = 0, counts[most], places[most];
    int const sizes[4] = {7, 8, 3, 7};
    static int out[80 * 400], in[most * 80 * 400];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    signal(SIGALRM, late);
    alarm(30);
    for (int scale = 1; scale <= 4000; scale = scale * 3 / 2 + 1) {
        MPI_Datatype block;
        int total = 0;
        for (int i = 0; i < size && i < most; ++i) {
            counts[i] = sizes[i % 4] * scale;
            places[i] = total;
            total += counts[i];
        }
        for (int i = 0; i < counts[rank]; ++i) out[i] = 1000000 * rank + i;
        MPI_Type_contiguous(counts[rank], MPI_INT, &block);
        MPI_Type_commit(&block);
        code |= MPI_Allgatherv(out, 1, block, in, counts, places, MPI_INT, MPI_COMM_WORLD);
        for (int r = 0; r < size; ++r)
            for (int i = 0; i < counts[r]; ++i) wrong += in[places[r] + i] != 1000000 * r + i;
        MPI_Type_free(&block);
    }
    wrong += code != MPI_SUCCESS;
    MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    alarm(0);
    if (rank == 0) printf("%s: %d integers are wrong\n", all ? "BUG" : "OK", all);
    MPI_Finalize();
    return all != 0;
}
