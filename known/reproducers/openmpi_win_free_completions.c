/* Open MPI: MPI_Win_free frees what completions of its one-sided operations, which arrive later, still use.
 *
 * build: mpicc openmpi_win_free_completions.c -o win_free_completions      run: mpiexec -n 4 ./win_free_completions
 * MPI-5.0 section 12.2.5: MPI_Win_free returns when all operations on the window have completed, and only then frees it.
 * expected: OK.
 * observed: a segmentation fault in a later call: am_rdma_descriptor_complete reads the module that ompi_osc_rdma_free has
 *   released (Open MPI 5.0.11). mallopt(M_PERTURB) overwrites what is freed, so that each such read is seen.
 *   A race, lost by a rank that loses its core between two looks for messages: a timer makes each rank pause wherever it is.
 */
// run: np=4 timeout=60
#include <malloc.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static void crashed(int number) {
    char const text[] = "BUG: a segmentation fault after MPI_Win_free\n";
    (void)number;
    if (write(1, text, sizeof text - 1) < 0) _exit(2);
    _exit(1);
}

static void pause_here(int number) {
    struct timespec const away = {0, 300000};
    (void)number;
    nanosleep(&away, NULL);
}

int main(int argc, char** argv) {
    enum { pieces = 256, rounds = 300 };
    int rank, size, flag;
    MPI_Init(&argc, &argv);
    signal(SIGSEGV, crashed);
    mallopt(M_PERTURB, 0x5a);
    struct timeval const every = {0, 400};
    struct itimerval const often = {every, every};
    signal(SIGALRM, pause_here);
    setitimer(ITIMER_REAL, &often, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Datatype every_other;
    MPI_Type_vector(pieces, 1, 2, MPI_INT, &every_other);
    MPI_Type_commit(&every_other);
    int *memory = calloc(2 * pieces, sizeof(int)), *origin = malloc(pieces * sizeof(int));
    MPI_Aint* places = malloc((size_t)size * sizeof *places);
    for (int round = 0; round < rounds; ++round) {
        MPI_Win window;
        MPI_Aint mine;
        MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window);
        MPI_Win_attach(window, memory, 2 * pieces * sizeof(int));
        MPI_Get_address(memory, &mine);
        MPI_Allgather(&mine, 1, MPI_AINT, places, 1, MPI_AINT, MPI_COMM_WORLD);
        MPI_Win_fence(0, window);
        for (int target = 0; target < size; ++target)
            MPI_Get(origin, pieces, MPI_INT, target, places[target], 1, every_other, window);
        MPI_Win_fence(0, window);
        MPI_Win_detach(window, memory);
        MPI_Win_free(&window);
        for (int look = 0; look < 100; ++look)
            MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    }
    free(memory), free(origin), free(places);
    MPI_Type_free(&every_other);
    MPI_Finalize();
    if (rank == 0) puts("OK");
    return 0;
}
