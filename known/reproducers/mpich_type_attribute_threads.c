/* MPICH: attributes that several threads set on one datatype get lost.
 *
 * build: mpicc -pthread mpich_type_attribute_threads.c -o attributes       run: mpiexec -n 1 ./attributes
 * MPI-5.0 section 11.6.1: at MPI_THREAD_MULTIPLE all MPI calls are thread-safe; section 7.7.4: MPI_Type_get_attr gives the value
 *   that MPI_Type_set_attr has associated with the key.
 * expected: each thread, with a key of its own, finds the attribute that it has set on MPI_INT.
 * observed: some do not find it, in a third of the runs (MPICH 4.3.2, 5.0.2).
 */
// run: np=1 timeout=30 runs=10 flags=-pthread
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
    int i, key, flag, value = 31;
    void* found;
    MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &key, NULL);
    for (i = 0; i < 20000; ++i) {
        MPI_Type_set_attr(MPI_INT, key, &value);
        flag = 0;
        MPI_Type_get_attr(MPI_INT, key, &found, &flag);
        if (!flag || found != &value) wrong = 1;
        MPI_Type_delete_attr(MPI_INT, key);
    }
    MPI_Type_free_keyval(&key);
    return argument;
}

int main(int argc, char** argv) {
    pthread_t threads[4];
    int i, provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    signal(SIGSEGV, ended);
    signal(SIGALRM, ended);
    alarm(20);
    for (i = 0; i < 4; ++i) pthread_create(&threads[i], NULL, work, NULL);
    for (i = 0; i < 4; ++i) pthread_join(threads[i], NULL);
    puts(wrong ? "BUG: an attribute that was set is not there" : "OK");
    MPI_Finalize();
    return wrong;
}
