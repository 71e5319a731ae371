/* MPICH: two threads that open files at once, each over a communicator of its own, wait for each other for ever.
 *
 * build: mpicc -pthread mpich_file_threads.c -o files       run: mpiexec -n 2 ./files
 * MPI-5.0 section 11.6.1: at MPI_THREAD_MULTIPLE all MPI calls are thread-safe, and a blocking call blocks the calling thread
 *   only; section 11.6.2: only concurrent collective calls on the same communicator, window or file handle need an order.
 * expected: MPI_File_open and MPI_File_set_view return in each thread.
 * observed: they do not (MPICH 4.3.2, 5.0.2): a thread that waits in a collective call on files keeps the others of its process
 *   out of all calls on files, one rank that of the first communicator and another rank that of the second.
 */
// run: np=2 timeout=30 runs=5 flags=-pthread
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { threads = 2, rounds = 50 };
static MPI_Comm comms[threads];
static int rank;

static void ended(int number) {
    char const* const text = "BUG: MPI_File_open or MPI_File_set_view does not return\n";
    if (rank == 0 && write(1, text, strlen(text)) < 0) _exit(2);
    _exit(1);
}
static void* work(void* argument) {
    int const me = *(int*)argument;
    char name[64];
    int i;
    snprintf(name, sizeof name, "/tmp/mpich_file_threads.%d", me);
    for (i = 0; i < rounds; ++i) {
        MPI_File file;
        MPI_File_open(comms[me], name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                      &file);
        MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
        MPI_File_close(&file);
        alarm(10); // ten seconds in which no thread has come as far
    }
    return NULL;
}

int main(int argc, char** argv) {
    pthread_t all[threads];
    int i, provided, numbers[threads];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (i = 0; i < threads; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    signal(SIGALRM, ended);
    alarm(10);
    for (i = 0; i < threads; ++i) pthread_create(&all[i], NULL, work, (numbers[i] = i, &numbers[i]));
    for (i = 0; i < threads; ++i) pthread_join(all[i], NULL);
    if (rank == 0) puts("OK");
    for (i = 0; i < threads; ++i) MPI_Comm_free(&comms[i]);
    MPI_Finalize();
    return 0;
}
