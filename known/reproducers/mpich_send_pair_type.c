/* MPICH 4.0: sending pair types whose C struct has gaps crashes.
 *
 * build: mpicc mpich_send_pair_type.c -o pair                run: mpiexec -n 2 ./pair
 * MPI-5.0 sections 6.9.4, 5.1.11: MPI_SHORT_INT, MPI_DOUBLE_INT, MPI_LONG_INT and MPI_LONG_DOUBLE_INT are predefined
 *   datatypes, as if made by MPI_Type_create_struct and MPI_Type_commit: they can be sent like any other.
 * expected: four messages arrive.
 * observed: SIGSEGV in MPI_Send; the signal is reported, not survived.
 */
// run: np=2 timeout=10
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static void on_segv(int signal) {
    static char const text[] = "BUG: SIGSEGV in MPI_Send or MPI_Recv\n";
    (void)signal;
    _exit(write(1, text, sizeof text - 1) < 0 ? 2 : 1);
}

int main(int argc, char** argv) {
    static char const* const names[] = {"MPI_SHORT_INT", "MPI_DOUBLE_INT", "MPI_LONG_INT", "MPI_LONG_DOUBLE_INT"};
    _Alignas(long double) char data[64] = "";
    int rank;
    MPI_Init(&argc, &argv);
    signal(SIGSEGV, on_segv);
    MPI_Datatype const types[] = {MPI_SHORT_INT, MPI_DOUBLE_INT, MPI_LONG_INT, MPI_LONG_DOUBLE_INT};
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int t = 0; t < 4; ++t) {
        if (rank == 0) printf("%s\n", names[t]), fflush(stdout);
        if (rank == 0) MPI_Send(data, 1, types[t], 1, 0, MPI_COMM_WORLD);
        if (rank == 1) MPI_Recv(data, 1, types[t], 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (rank == 0) puts("OK");
    MPI_Finalize();
    return 0;
}
