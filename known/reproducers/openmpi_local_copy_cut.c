/* Open MPI: a copy of a process to itself between different datatypes loses the end of an element that a multiple of 64 KiB cuts.
 *
 * build: mpicc openmpi_local_copy_cut.c -o local_copy_cut        run: mpiexec -n 1 ./local_copy_cut
 * MPI-5.0 section 6.8: MPI_Alltoallw works as if each process sent with MPI_Send to every process, itself included; the type
 *   signatures have to agree, not the datatypes (section 6.1).
 * expected: 5462 elements of MPI_DOUBLE_INT (65544 bytes of data) arrive where a duplicate of the datatype receives them.
 * observed: of the last element, which byte 65536 cuts, the int stays as it was (Open MPI 5.0.11).
 */
// run: np=1 timeout=20
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { n = 5462 };

int main(int argc, char** argv) {
    static struct pair {
        double value;
        int place;
    } out[n], in[n];
    int const count = n, at = 0;
    int wrong = -1;
    MPI_Init(&argc, &argv);
    MPI_Datatype const sent = MPI_DOUBLE_INT;
    MPI_Datatype received;
    MPI_Type_dup(sent, &received);
    for (int i = 0; i < n; ++i) {
        out[i].value = i;
        out[i].place = i + 1;
    }
    memset(in, 0, sizeof in);
    MPI_Alltoallw(out, &count, &at, &sent, in, &count, &at, &received, MPI_COMM_SELF);
    for (int i = n - 1; i >= 0; --i)
        if (in[i].value != i || in[i].place != i + 1) wrong = i;
    if (wrong >= 0)
        printf("BUG: element %d of %d is (%g, %d), expected (%d, %d)\n", wrong, n, in[wrong].value, in[wrong].place,
               wrong, wrong + 1);
    else puts("OK");
    MPI_Type_free(&received);
    MPI_Finalize();
    return wrong >= 0;
}
