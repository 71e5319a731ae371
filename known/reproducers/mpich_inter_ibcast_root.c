/* MPICH: MPI_Ibcast on an intercommunicator loses the data when the root is not rank 0 of its group.
 *
 * build: mpicc mpich_inter_ibcast_root.c -o mpich_inter_ibcast_root        run: mpiexec -n 4 ./mpich_inter_ibcast_root
 * MPI-5.0 section 6.4: data is broadcast from the root to all processes of the other group; 6.12.2 for MPI_Ibcast.
 * expected: each process of the other group gets the data of the root.
 * observed: some of them return from MPI_Wait with their buffers as they were; with 5 processes, whose groups differ in
 *   size, an assertion ends those whose group has no process of the root's rank.
 */
// run: np=4 timeout=20
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    int rank, size, wrong = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int const half = size / 2, upper = rank >= half;
    MPI_Comm local, inter;
    MPI_Comm_split(MPI_COMM_WORLD, upper, rank, &local);
    MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, upper ? 0 : half, 1, &inter);
    for (int root = 0; root < half; ++root) {
        int data = rank == root ? 4711 : -1;
        MPI_Request request;
        MPI_Ibcast(&data, 1, MPI_INT, upper ? root : rank == root ? MPI_ROOT : MPI_PROC_NULL, inter, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        if (upper && data != 4711)
            printf("root %d: rank %d of the other group got %d\n", root, rank - half, data), ++wrong;
    }
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) printf("%s: %d processes are without the data\n", wrong ? "BUG" : "OK", wrong);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&local);
    MPI_Finalize();
    return wrong != 0;
}
