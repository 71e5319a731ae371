/* MPICH: MPI_Get_accumulate of more than 64 KiB is wrong or aborts for datatypes whose size does not divide 64 KiB.
 *
 * build: mpicc mpich_get_accumulate_large.c -o get_accumulate_large     run: mpiexec -n 2 ./get_accumulate_large
 * MPI-5.0 section 12.3.4.2: the content of the target before the update is returned in the result buffer, for any number
 *   of elements.
 * expected: 90000 pairs (MPI_LONG_INT: 12 bytes of data each) come back as they are in the target's window.
 * observed: elements beyond the first 64 KiB (MPICH 4.0: 136 KiB) are wrong, or a call returns "Invalid datatype". With
 *   MPI_C_LONG_DOUBLE_COMPLEX an assertion in typerep_yaksa_pack.c fails and ends the job.
 */
// run: np=2 timeout=20
#include <mpi.h>
#include <stdio.h>

enum { N = 90000 };
struct pair {
    long value;
    int index;
};

int main(int argc, char** argv) {
    static struct pair given[N], result[N], memory[N];
    int rank, size, wrong = 0, code;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Win_create(memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    for (int i = 0; i < N; ++i) {
        memory[i].value = 1000000000000L + i;
        memory[i].index = i;
        result[i].value = result[i].index = -1;
    }
    MPI_Win_fence(0, win);
    code = MPI_Get_accumulate(given, N, MPI_LONG_INT, result, N, MPI_LONG_INT, (rank + 1) % size, 0, N, MPI_LONG_INT,
                              MPI_NO_OP, win);
    if (code == MPI_SUCCESS) code = MPI_Win_fence(0, win);
    for (int i = N - 1; i >= 0; --i)
        if (result[i].value != 1000000000000L + i || result[i].index != i) wrong = i + 1;
    if (code != MPI_SUCCESS) printf("BUG: an error is returned\n");
    else if (wrong)
        printf("BUG: element %d is {%ld, %d}\n", wrong - 1, result[wrong - 1].value, result[wrong - 1].index);
    else puts("OK");
    fflush(stdout);
    if (code != MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Win_free(&win);
    MPI_Finalize();
    return wrong != 0;
}
