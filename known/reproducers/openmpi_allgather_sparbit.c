/* Open MPI: the sparbit algorithm of MPI_Allgather with MPI_IN_PLACE.
 *
 * build: mpicc openmpi_allgather_sparbit.c -o allgather_sparbit     run: mpiexec -n 2 ./allgather_sparbit
 * MPI-5.0 section 6.7: with MPI_IN_PLACE the contribution of a process is taken from its block of recvbuf.
 * expected: all blocks everywhere.
 * observed: blocks are missing, with coll_tuned_allgather_algorithm = 7 (Open MPI 5.0.11).
 */
// run: np=2 timeout=20
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
    int rank, i, wrong = 0, data[2][7 * 2];
    MPI_Datatype every_second;
    setenv("OMPI_MCA_coll_tuned_use_dynamic_rules", "1", 1);
    setenv("OMPI_MCA_coll_tuned_allgather_algorithm", "7", 1);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &every_second);
    MPI_Type_commit(&every_second);
    for (i = 0; i < 28; ++i) data[i / 14][i % 14] = i / 14 == rank ? 100 * rank + i % 14 : -7;
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data, 7, every_second, MPI_COMM_WORLD);
    for (i = 0; i < 28; i += 2)
        if (data[i / 14][i % 14] != 100 * (i / 14) + i % 14) wrong = 1;
    if (wrong)
        printf("BUG: rank %d has %d, %d, … and %d, %d, …\n", rank, data[0][0], data[0][2], data[1][0], data[1][2]);
    else if (rank == 0) puts("OK");
    MPI_Type_free(&every_second);
    MPI_Finalize();
    return wrong;
}
