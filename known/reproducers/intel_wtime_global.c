/* Intel MPI: MPI_WTIME_IS_GLOBAL is true, yet the clocks of two processes differ.
 *
 * build: mpicc intel_wtime_global.c -o wtime_global           run: mpiexec -n 2 ./wtime_global
 * MPI-5.0 section 9.1.2: MPI_WTIME_IS_GLOBAL is 1 if clocks at all processes in MPI_COMM_WORLD are synchronized, 0 otherwise.
 * expected: 0, or a message arrives later than it was sent.
 * observed: 1, and by MPI_Wtime messages arrive milliseconds before they are sent.
 */
// run: np=2 timeout=10
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    int rank, flag, *global = NULL, wrong = 0;
    double sent = 0, worst = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, &global, &flag);
    for (int i = 0; i < 100 && rank < 2; ++i) {
        double ahead;
        if (rank == i % 2) {
            sent = MPI_Wtime();
            MPI_Send(&sent, 1, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD);
            continue;
        }
        MPI_Recv(&sent, 1, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        ahead = sent - MPI_Wtime();
        if (ahead > worst) worst = ahead;
    }
    wrong = flag && *global && worst > MPI_Wtick();
    printf("%s: MPI_WTIME_IS_GLOBAL is %d, a message arrived %.9f s before it was sent\n", wrong ? "BUG" : "OK",
           flag ? *global : 0, worst);
    MPI_Finalize();
    return wrong;
}
