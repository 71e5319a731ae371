/* Open MPI: MPI_Allgatherv on an intercommunicator gathers the blocks of a group in the datatype of its first process.
 *
 * build: mpicc openmpi_inter_allgatherv.c -o inter_allgatherv        run: mpiexec -n 4 ./inter_allgatherv
 * MPI-5.0 section 6.7: the type signature of sendcount, sendtype at process j must equal that of recvcounts[j], recvtype at
 *   any process; the type maps may be different.
 * expected: of each group a block of 8 and one of 9 integers, each sent as one element of a datatype of that size.
 * observed: MPI_ERR_TRUNCATE, or no end.
 */
// run: np=4 timeout=30
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static void late(int signal) {
    (void)signal;
    static char const text[] = "BUG: MPI_Allgatherv has not returned after 20 seconds\n";
    (void)!write(1, text, sizeof text - 1);
    _exit(1);
}

int main(int argc, char** argv) {
    int rank, out[9], in[17] = {0}, wrong = 0, all = 0;
    int const counts[2] = {8, 9}, places[2] = {0, 8};
    MPI_Comm local, both;
    MPI_Datatype block;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, 0, &local);
    MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, rank < 2 ? 2 : 0, 0, &both);
    MPI_Comm_set_errhandler(both, MPI_ERRORS_RETURN);
    MPI_Type_contiguous(counts[rank % 2], MPI_INT, &block);
    MPI_Type_commit(&block);
    for (int i = 0; i < 9; ++i) out[i] = 100 * rank + i;
    signal(SIGALRM, late);
    alarm(20);
    int const code = MPI_Allgatherv(out, 1, block, in, counts, places, MPI_INT, both);
    for (int r = 0; r < 2; ++r)
        for (int i = 0; i < counts[r]; ++i) wrong += in[places[r] + i] != 100 * (rank < 2 ? r + 2 : r) + i;
    wrong += code != MPI_SUCCESS;
    MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    alarm(0);
    if (rank == 0) printf("%s: %d integers are wrong, or missing by an error\n", all ? "BUG" : "OK", all);
    MPI_Type_free(&block);
    MPI_Comm_free(&both);
    MPI_Comm_free(&local);
    MPI_Finalize();
    return all != 0;
}
