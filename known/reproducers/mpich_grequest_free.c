/* MPI_Request_free of a generalized request calls free_fn before the operation is complete.
 *
 * build: mpicc mpich_grequest_free.c -o free       run: mpiexec -n 1 ./free
 * MPI-5.0 section 13.2: for a request that is freed, free_fn is called by MPI_Request_free or by MPI_Grequest_complete,
 *   whichever comes last.
 * expected: free_fn is called by MPI_Grequest_complete.
 * observed: by MPI_Request_free (MPICH 4.0).
 */
// run: np=1 timeout=10
#include <mpi.h>
#include <stdio.h>

static int freed = 0;
static int query(void* extra, MPI_Status* status) { return (void)extra, (void)status, MPI_SUCCESS; }
static int release(void* extra) { return (void)extra, ++freed, MPI_SUCCESS; }
static int cancel(void* extra, int complete) { return (void)extra, (void)complete, MPI_SUCCESS; }

int main(int argc, char** argv) {
    MPI_Request request, copy;
    MPI_Init(&argc, &argv);
    MPI_Grequest_start(query, release, cancel, NULL, &request);
    copy = request;
    MPI_Request_free(&request);
    int const early = freed;
    if (early) {
        puts("BUG: free_fn was called by MPI_Request_free, the operation is not complete");
    } else {
        MPI_Grequest_complete(copy);
        puts(freed == 1 ? "OK" : "BUG: free_fn was not called by MPI_Grequest_complete");
    }
    fflush(stdout);
    MPI_Finalize();
    return early || freed != 1;
}
