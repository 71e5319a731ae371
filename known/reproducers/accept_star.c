/* A process that accepts several others, each by itself, and does so again, dies or waits for ever.
 *
 * build: mpicc accept_star.c -o accept_star                    run: mpiexec -n 4 ./accept_star
 * MPI-5.0 section 11.9.2: MPI_Comm_accept and MPI_Comm_connect make intercommunicators; a port stays open until MPI_Close_port, and
 *   one that was accepted can be disconnected (section 11.10.4).
 * expected: the process accepts three others over MPI_COMM_SELF, disconnects them, and does so again three times.
 * observed: SIGSEGV or SIGBUS in MPI_Comm_accept (MPICH 5.0.2); MPI_Comm_accept waits for ever in about half of the runs (Open MPI 5.0.11).
 */
// run: np=4 timeout=30 runs=5 by=timing
#include <mpi.h>
#include <stdio.h>

static int raised;
static void note(MPI_Comm* comm, int* code, ...) { ++raised; }

int main(int argc, char** argv) {
    int rank, size, number, wrong = 0;
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm links[8];
    MPI_Errhandler handler;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_create_errhandler(note, &handler); /* libmpi_abi.so of Intel MPI takes MPI_ERRORS_RETURN for another one */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
    if (rank == 0 && (MPI_Open_port(MPI_INFO_NULL, port) != MPI_SUCCESS || raised)) port[0] = '\0';
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    MPI_Errhandler_free(&handler);
    MPI_Bcast(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (port[0] == '\0') {
        if (rank == 0) puts("N/A: no port can be opened");
        return MPI_Finalize(), 0;
    }
    for (int round = 0; round < 4; ++round) {
        int const n = rank == 0 ? size - 1 : 1;
        int sum = 0;
        for (int i = 0; i < n; ++i)
            if (rank == 0) MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &links[i]);
            else MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &links[i]);
        for (int i = 0; i < n; ++i)
            if (rank == 0) {
                MPI_Recv(&number, 1, MPI_INT, 0, 0, links[i], MPI_STATUS_IGNORE);
                sum += number;
            } else {
                MPI_Send(&rank, 1, MPI_INT, 0, 0, links[i]);
            }
        if (rank == 0 && sum != size * (size - 1) / 2) wrong = 1;
        for (int i = 0; i < n; ++i) MPI_Comm_disconnect(&links[i]);
    }
    if (rank == 0) {
        MPI_Close_port(port);
        printf("%s\n", wrong ? "BUG: the wrong processes were accepted" : "OK");
    }
    MPI_Finalize();
    return wrong;
}
