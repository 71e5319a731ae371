/* MPI_Reduce of elements with space after their data reads that space after the last element, too.
 *
 * build: mpicc intel_reduce_beyond.c -o beyond       run: mpiexec -n 3 ./beyond
 * MPI-5.0 sections 5.1.11, 6.9.1: a buffer of n elements is the entries of their type maps: it ends with the last one, not where
 *   the next element would begin.
 * expected: OK.
 * observed: SIGSEGV where a page that is not there follows (Intel MPI 2021.19.0, 3 ranks).
 */
// run: np=3 timeout=10 by=processor
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <sys/mman.h>

enum { page = 4096 };

static void sum(void* in, void* inout, int* count, MPI_Datatype* type) {
    (void)type;
    for (int i = 0; i < *count; ++i) *(int*)((char*)inout + 12 * i) += *(int*)((char*)in + 12 * i);
}

static int* last_int_of_a_page(void) {
    char* begin = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(begin + page, page, PROT_NONE);
    return (int*)(begin + page) - 1;
}

int main(int argc, char** argv) {
    int rank, size, wrong;
    MPI_Datatype wide;
    MPI_Op op;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Type_create_resized(MPI_INT, 0, 12, &wide);
    MPI_Type_commit(&wide);
    MPI_Op_create(sum, 1, &op);
    int *in = last_int_of_a_page(), *out = last_int_of_a_page();
    *in = 1;
    for (int round = 0; round < 10; ++round) MPI_Reduce(in, out, 1, wide, op, 1, MPI_COMM_WORLD);
    wrong = rank == 1 && *out != size;
    if (rank == 1) puts(wrong ? "BUG: the sum is wrong" : "OK");
    MPI_Op_free(&op);
    MPI_Type_free(&wide);
    MPI_Finalize();
    return wrong;
}
