/* MPICH: MPI_Type_create_f90_real in several threads at once ends the process.
 *
 * build: mpicc -pthread mpich_f90_threads.c -o f90       run: mpiexec -n 2 ./f90
 * MPI-5.0 section 11.6.1: at MPI_THREAD_MULTIPLE all MPI calls are thread-safe; section 19.1.5: the datatype that it returns is a
 *   predefined one, with which communication and MPI_SUM work.
 * expected: each thread gets the datatype, and MPI_Scan adds.
 * observed: in a quarter of the runs "Assertion failed … dt_ptr", or an error (MPICH 4.3.2, 5.0.2).
 */
// run: np=2 timeout=20 runs=25 flags=-pthread
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { threads = 4, precisions = 9 };
static MPI_Comm comms[threads];
static pthread_barrier_t barrier;
static _Atomic int wrong = 0; // threads set it
static _Atomic int finished = 0;

static void say(char const* text) {
    if (write(1, text, strlen(text)) < 0) _exit(2);
    _exit(1);
}
static void ended(int number) { say(number == SIGABRT ? "BUG: an assertion\n" : "BUG: a segmentation fault\n"); }
static void left(void) {
    if (!finished) say("BUG: the library ended the process\n");
}
static void* work(void* argument) {
    int const me = *(int*)argument;
    double in[2] = {1, 2}, out[2];
    int i;
    for (i = 0; i < precisions; ++i) {
        MPI_Datatype type = MPI_DATATYPE_NULL;
        pthread_barrier_wait(&barrier); // all ask for the datatype when it is not there yet
        if (MPI_Type_create_f90_real(6 + i, MPI_UNDEFINED, &type) != MPI_SUCCESS) wrong = 1;
        else if (MPI_Scan(in, out, 1, type, MPI_SUM, comms[me]) != MPI_SUCCESS) wrong = 1;
    }
    return NULL;
}

int main(int argc, char** argv) {
    pthread_t all[threads];
    int i, provided, rank, numbers[threads];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    atexit(left);
    signal(SIGABRT, ended);
    signal(SIGSEGV, ended);
    pthread_barrier_init(&barrier, NULL, threads);
    for (i = 0; i < threads; ++i) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
        MPI_Comm_set_errhandler(comms[i], MPI_ERRORS_RETURN);
    }
    for (i = 0; i < threads; ++i) pthread_create(&all[i], NULL, work, (numbers[i] = i, &numbers[i]));
    for (i = 0; i < threads; ++i) pthread_join(all[i], NULL);
    finished = 1;
    if (rank == 0 || wrong) puts(wrong ? "BUG: an error of MPI_Type_create_f90_real or MPI_Scan" : "OK");
    for (i = 0; i < threads; ++i) MPI_Comm_free(&comms[i]);
    MPI_Finalize();
    return wrong;
}
