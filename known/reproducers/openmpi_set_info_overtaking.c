/* A message that is sent after MPI_Comm_set_info with mpi_assert_allow_overtaking is never received.
 *
 * build: mpicc openmpi_set_info_overtaking.c -o overtaking       run: mpiexec -n 2 ./overtaking
 * MPI-5.0 section 7.4.4: the assertion lets messages overtake one another, and takes none away; section 3.5: a send
 *   and a receive that match complete. MPI_Comm_set_info is collective, which does not mean that it synchronizes (section
 *   2.4.2).
 * expected: OK.
 * observed: the receive never ends if the message comes while the receiver is not yet in MPI_Comm_set_info (Open MPI 4.1).
 */
// run: np=2 timeout=30
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static void late(int number) {
    static char const text[] = "BUG: the message is not received\n";
    (void)number;
    if (write(1, text, sizeof text - 1) < 0) _exit(2);
    _exit(1);
}

int main(int argc, char** argv) {
    int rank, value = 0, flag, i;
    MPI_Comm comm;
    MPI_Info info;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_assert_allow_overtaking", "true");
    signal(SIGALRM, late);
    alarm(20);
    for (i = 0; i < 3; ++i) {
        if (rank == 0) MPI_Send(&i, 1, MPI_INT, 1, 0, comm);
        if (rank == 1) MPI_Recv(&value, 1, MPI_INT, 0, 0, comm, MPI_STATUS_IGNORE);
    }
    // Rank 1 comes late, and looks after messages of another communicator meanwhile.
    double const start = MPI_Wtime();
    while (rank == 1 && MPI_Wtime() - start < 0.5) MPI_Iprobe(0, 1, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    MPI_Comm_set_info(comm, info);
    if (rank == 0) MPI_Send(&i, 1, MPI_INT, 1, 0, comm);
    if (rank == 1) MPI_Recv(&value, 1, MPI_INT, 0, 0, comm, MPI_STATUS_IGNORE);
    alarm(0);
    if (rank == 1) puts("OK");
    MPI_Info_free(&info);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}
