/* A collective operation with a wrong argument ends the process under MPI_ERRORS_RETURN.
 *
 * build: mpicc mpich_wrong_argument.c -o wrong       run: mpiexec -n 1 ./wrong
 * MPI-5.0 section 9.3: which errors are found is the library's affair; under MPI_ERRORS_RETURN one that is found comes
 *   back as a code (advisory: after an error the state of MPI is undefined).
 * expected: an error code.
 * observed: MPI_Allreduce of -1 elements crashes (MPICH 4.3.2, 5.0.2).
 */
// run: np=1 timeout=10
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static void crashed(int number) {
    char const text[] = "BUG: MPI_Allreduce of -1 elements crashes\n";
    (void)number;
    if (write(1, text, sizeof text - 1) < 0) _exit(2);
    _exit(1);
}

int main(int argc, char** argv) {
    int in = 1, out = 0, code;
    MPI_Init(&argc, &argv);
    signal(SIGSEGV, crashed);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    code = MPI_Allreduce(&in, &out, -1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    printf("OK: MPI_Allreduce of -1 elements returns %d\n", code);
    MPI_Finalize();
    return 0;
}
