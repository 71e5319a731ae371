// A layer to be preloaded: MPI_Comm_create_group crashes. tests/e2e/test_blame.py
#include <mpi.h>
#include <stddef.h>

int MPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm* made) {
    (void)comm, (void)group, (void)tag, (void)made;
    *(int volatile*)NULL = 1;
    return MPI_SUCCESS;
}
