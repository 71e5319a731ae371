/* Intel MPI: MPI_Comm_create on an intercommunicator crashes when one side keeps nobody and the other is ranked backwards.
 *
 * build: mpicc intel_comm_create_inter.c -o create_inter
 * run: mpiexec -n 4 ./create_inter
 * MPI-5.0 section 7.4.2: if one of the two groups has no process, all get MPI_COMM_NULL.
 * expected: MPI_COMM_NULL on each process.
 * observed: SIGSEGV in MPI_Comm_create on the side that keeps its processes, in most runs (2021.19.0, from 3 processes on; with
 *   the ranks of the halves in the order of MPI_COMM_WORLD it returns).
 */
// run: np=4 timeout=20 runs=10 by=timing
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    int rank, size, wrong, all = 0;
    MPI_Comm half, inter, made = MPI_COMM_WORLD;
    MPI_Group whole;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int const side = rank >= size / 2;
    MPI_Comm_split(MPI_COMM_WORLD, side, -rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, side ? size / 2 - 1 : size - 1, 7, &inter);
    MPI_Comm_group(inter, &whole);
    MPI_Comm_create(inter, side ? MPI_GROUP_EMPTY : whole, &made);
    wrong = made != MPI_COMM_NULL;
    MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) printf("%s: %d of %d processes have got a communicator\n", all ? "BUG" : "OK", all, size);
    MPI_Group_free(&whole);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
    MPI_Finalize();
    return all != 0;
}
