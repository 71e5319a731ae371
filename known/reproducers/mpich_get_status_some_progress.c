/* MPICH: MPI_Request_get_status_some lets no message in while a request of its list is complete.
 *
 * build: mpicc mpich_get_status_some_progress.c -o some           run: mpiexec -n 2 ./some
 * MPI-5.0 section 3.7.6: a receive that is in the list again and again completes if its send was started.
 * expected: outcount becomes 2 once both messages are sent.
 * observed: it stays 1 for ever.
 */
// run: np=2 timeout=20
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    int rank, word = 0, data[2] = {1, 2}, done = 0, which[2], broken = 0;
    MPI_Request requests[2];
    MPI_Status statuses[2];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        MPI_Send(&data[0], 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
        MPI_Recv(&word, 1, MPI_INT, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(&data[1], 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
    } else if (rank == 1) {
        for (int i = 0; i < 2; ++i) MPI_Irecv(&data[i], 1, MPI_INT, 0, i, MPI_COMM_WORLD, &requests[i]);
        while (done < 1) MPI_Request_get_status_some(2, requests, &done, which, statuses);
        MPI_Send(&word, 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
        for (double const end = MPI_Wtime() + 10; done < 2 && MPI_Wtime() < end;)
            MPI_Request_get_status_some(2, requests, &done, which, statuses);
        broken = done != 2;
        printf("%s: outcount is %d, expected 2\n", broken ? "BUG" : "OK", done);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    MPI_Finalize();
    return broken;
}
