/* Error classes of the user in several threads at once end in a segmentation fault.
 *
 * build: mpicc -pthread mpich_error_code_threads.c -o threads       run: mpiexec -n 1 ./threads
 * MPI-5.0 section 9.5.1: what adds and removes error classes and texts is thread-safe, at any thread level, as section 11.6.1
 *   defines it; section 9.3.5: so is MPI_Error_string.
 * expected: every thread adds, reads and removes its own classes.
 * observed: SIGSEGV, an endless loop, or a text of another thread, sometimes (MPICH 4.3.2, 5.0.2).
 */
// run: np=1 timeout=30 runs=3 flags=-pthread
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static _Atomic int wrong = 0; // threads set it
static void ended(int number) {
    char const* const text = number == SIGALRM ? "BUG: there is no end to it\n" : "BUG: a segmentation fault\n";
    if (write(1, text, strlen(text)) < 0) _exit(2);
    _exit(1);
}
static void* work(void* argument) {
    char expected[64], text[MPI_MAX_ERROR_STRING + 1];
    int i, error_class, length;
    for (i = 0; i < 20000; ++i) {
        snprintf(expected, sizeof expected, "text %d of thread %d", i, *(int*)argument);
        MPI_Add_error_class(&error_class);
        MPI_Add_error_string(error_class, expected);
        MPI_Error_string(error_class, text, &length);
        if (strcmp(text, expected) != 0) wrong = 1;
        MPI_Remove_error_string(error_class);
        MPI_Remove_error_class(error_class);
    }
    return NULL;
}

int main(int argc, char** argv) {
    pthread_t threads[4];
    int i, provided, numbers[4];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    signal(SIGSEGV, ended);
    signal(SIGALRM, ended);
    alarm(20);
    for (i = 0; i < 4; ++i) pthread_create(&threads[i], NULL, work, (numbers[i] = i, &numbers[i]));
    for (i = 0; i < 4; ++i) pthread_join(threads[i], NULL);
    puts(wrong ? "BUG: a class has the text of another thread" : "OK");
    MPI_Finalize();
    return wrong;
}
