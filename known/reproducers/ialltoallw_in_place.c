/* MPICH, Intel MPI: MPI_Ialltoallw with MPI_IN_PLACE mixes up the counts of the two ends of an exchange.
 *
 * build: mpicc ialltoallw_in_place.c -o ialltoallw_in_place        run: mpiexec -n 2 ./ialltoallw_in_place
 * MPI-5.0 sections 6.8, 6.12.6: with MPI_IN_PLACE data sent and received have the type map given by recvcounts and recvtypes; the
 *   signatures of both ends of a pair must be equal, their counts and datatypes need not.
 * expected: rank 0, which describes its block for rank 1 as one element of 100 integers, receives all 100.
 * observed: it receives 1. MPI_Alltoallw does it right.
 */
// run: np=2 timeout=20
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    enum { n = 100 };
    int rank, data[2][n], wrong = 0, all = 0;
    MPI_Datatype block;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Type_contiguous(n, MPI_INT, &block);
    MPI_Type_commit(&block);
    for (int to = 0; to < 2; ++to)
        for (int i = 0; i < n; ++i) data[to][i] = 10000 * rank + 1000 * to + i;
    int const counts[2] = {n, 1}, displacements[2] = {0, sizeof data[0]};
    MPI_Datatype const types[2] = {MPI_INT, block};
    MPI_Ialltoallw(MPI_IN_PLACE, NULL, NULL, NULL, data, counts, displacements, types, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int from = 0; from < 2; ++from)
        for (int i = 0; i < n; ++i) wrong += data[from][i] != 10000 * from + 1000 * rank + i;
    MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("%s: %d of %d integers are wrong\n", all ? "BUG" : "OK", all, 4 * n);
    MPI_Type_free(&block);
    MPI_Finalize();
    return all != 0;
}
