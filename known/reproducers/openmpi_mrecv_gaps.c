/* MPI_Mrecv into a datatype with gaps: the data do not arrive.
 *
 * build: mpicc openmpi_mrecv_gaps.c -o gaps
 * run: OMPI_MCA_pml=cm OMPI_MCA_mtl=ofi OMPI_MCA_mtl_ofi_provider_include=tcp mpiexec -n 2 ./gaps
 * MPI-5.0 section 3.8.3: MPI_Mrecv receives the matched message into the buffer that it is given.
 * expected: OK.
 * observed: the buffer stays as it was (Open MPI 4.1.4 and 5.0.11 over libfabric).
 */
// run: np=2 timeout=20 transport=tcp
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    int rank, right = 1, data[4] = {1, 0, 2, 0};
    MPI_Datatype gaps;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Type_vector(2, 1, 2, MPI_INT, &gaps);
    MPI_Type_commit(&gaps);
    if (rank == 0) {
        MPI_Send(data, 1, gaps, 1, 0, MPI_COMM_WORLD);
    } else {
        MPI_Message message;
        data[0] = data[2] = 0;
        MPI_Mprobe(0, 0, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
        MPI_Mrecv(data, 1, gaps, &message, MPI_STATUS_IGNORE);
        right = data[0] == 1 && data[2] == 2;
        printf(right ? "OK\n" : "BUG: %d and %d arrived\n", data[0], data[2]);
    }
    MPI_Type_free(&gaps);
    MPI_Finalize();
    return right ? 0 : 1;
}
