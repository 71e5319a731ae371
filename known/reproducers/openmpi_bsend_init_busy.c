/* A persistent buffered send is started again while its last message is on the way: over libfabric it sends something else.
 *
 * build: mpicc openmpi_bsend_init_busy.c -o busy
 * run: OMPI_MCA_pml=cm OMPI_MCA_mtl=ofi OMPI_MCA_mtl_ofi_provider_include=tcp mpiexec -n 2 ./busy
 * MPI-5.0 section 3.9: MPI_Start of a request of MPI_Bsend_init does what MPI_Ibsend with the same arguments does; section 3.4: the
 *   request is complete when the message is in the attached buffer, which has room for both here.
 * expected: OK.
 * observed: MPI_Start sends as many elements as the message has bytes: it never arrives, or MPI_ERR_TRUNCATE, or a crash (Open MPI
 *   4.1.4, 4.1.8 and 5.0.11).
 */
// run: np=2 timeout=20 transport=tcp
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char** argv) {
    enum { count = 65536, starts = 2 };
    int rank, wrong = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int* const data = calloc(count, sizeof *data);
    if (rank == 1) {
        int room;
        MPI_Pack_size(count, MPI_INT, MPI_COMM_WORLD, &room);
        room = starts * (room + MPI_BSEND_OVERHEAD);
        void* buffer = malloc(room);
        MPI_Request request;
        MPI_Buffer_attach(buffer, room);
        MPI_Bsend_init(data, count, MPI_INT, 0, 0, MPI_COMM_WORLD, &request);
        for (int k = 0; k < starts; ++k) {
            MPI_Start(&request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
        MPI_Request_free(&request);
        MPI_Buffer_detach(&buffer, &room);
        free(buffer);
    } else if (rank == 0) {
        usleep(300000);
        for (int k = 0; k < starts; ++k)
            wrong += MPI_Recv(data, count, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE) != MPI_SUCCESS;
        puts(wrong ? "BUG: MPI_Recv fails" : "OK");
        fflush(stdout);
    }
    MPI_Finalize();
    free(data);
    return wrong != 0;
}
