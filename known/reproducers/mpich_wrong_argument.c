/* MPI_Allreduce of -1 elements is not noticed: it copies a negative number of bytes.
 *
 * build: mpicc mpich_wrong_argument.c -o wrong       run: mpiexec -n 1 ./wrong
 * MPI-5.0 section 9.3: a library need not notice a wrong argument, and may be unable to handle the trap that comes of it. So this
 *   is advisory, and the suite takes the SIGSEGV for that; a tool that looks at copies (AddressSanitizer) ends the process by exit().
 * expected: an error code.
 * observed: SIGSEGV (MPICH 4.0.2 to 5.0.2).
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
