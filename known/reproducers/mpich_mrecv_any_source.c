/* A message found by MPI_Mprobe with MPI_ANY_SOURCE in a duplicated communicator, received into several pieces: crash.
 *
 * build: mpicc mpich_mrecv_any_source.c -o mrecv
 * run: MPIR_CVAR_CH4_NETMOD=ofi MPIR_CVAR_NOLOCAL=1 FI_PROVIDER=tcp mpiexec -n 2 ./mrecv
 * MPI-5.0 section 3.8.2: MPI_Mrecv receives the message that MPI_Mprobe matched, whatever source was asked for.
 * expected: OK.
 * observed: SIGSEGV in MPI_Mrecv on datatypes with gaps (MPICH 5.0.2 over libfabric; not over UCX or shared memory).
 */
// run: np=2 timeout=20 transport=tcp
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    int rank, data[4] = {1, 0, 2, 0};
    MPI_Comm comm;
    MPI_Datatype gaps;
    MPI_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_rank(comm, &rank);
    MPI_Type_vector(2, 1, 2, MPI_INT, &gaps);
    MPI_Type_commit(&gaps);
    if (rank == 0) {
        MPI_Send(data, 1, gaps, 1, 0, comm);
    } else {
        MPI_Message message;
        MPI_Mprobe(MPI_ANY_SOURCE, 0, comm, &message, MPI_STATUS_IGNORE);
        MPI_Mrecv(data, 1, gaps, &message, MPI_STATUS_IGNORE);
        puts("OK"); // what arrived is another question
    }
    MPI_Type_free(&gaps);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}
