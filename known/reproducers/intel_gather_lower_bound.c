/* Intel MPI: MPI_Gather overruns a temporary buffer when the data of an element does not begin at its address.
 *
 * build: mpicc intel_gather_lower_bound.c -o intel_gather_lower_bound        run: mpiexec -n 2 ./intel_gather_lower_bound
 * MPI-5.0 section 6.5: general, derived datatypes are allowed for sendtype and recvtype; section 5.1.12: with MPI_BOTTOM their
 *   displacements are addresses.
 * expected: the last process gathers one integer of each.
 * observed: an element is put into a temporary buffer at its true lower bound: here a segmentation fault, with small bounds a
 *   damaged heap.
 */
// run: np=2 timeout=20
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void beyond(int signal) {
    (void)signal;
    static char const text[] = "BUG: memory outside the buffers is touched\n";
    (void)!write(1, text, sizeof text - 1);
    _exit(1);
}

int main(int argc, char** argv) {
    int rank, size, mine, wrong = 0, all[64] = {0};
    int const one = 1;
    MPI_Aint at;
    MPI_Datatype type;
    setenv("I_MPI_ADJUST_GATHER", "2", 1); /* Intel MPI chooses by the processor: binomial */
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    mine = rank + 1;
    MPI_Get_address(all, &at);
    MPI_Type_create_hindexed(1, &one, &at, MPI_INT, &type);
    MPI_Type_create_resized(type, at, sizeof(int), &type);
    MPI_Type_commit(&type);
    signal(SIGABRT, beyond);
    signal(SIGSEGV, beyond);
    MPI_Gather(&mine, 1, MPI_INT, MPI_BOTTOM, 1, type, size - 1, MPI_COMM_WORLD);
    if (rank == size - 1) {
        for (int i = 0; i < size; ++i) wrong += all[i] != i + 1;
        puts(wrong ? "BUG: wrong data" : "OK");
    }
    MPI_Finalize();
    return wrong;
}
