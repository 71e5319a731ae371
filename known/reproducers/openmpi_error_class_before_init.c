/* Open MPI: MPI_Error_class before MPI_Init ends the process.
 *
 * build: mpicc openmpi_error_class_before_init.c -o error_class_before_init     run: mpiexec -n 1 ./error_class_before_init
 * MPI-5.0 section 11.4.1, table 9: MPI_Error_class and MPI_Error_string may be called at any time, before MPI_Init, too.
 * expected: MPI_SUCCESS.
 * observed: the process ends (Open MPI 4.1.4, 4.1.8).
 */
// run: np=1 timeout=10
#include <mpi.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char** argv) {
    int error_class = -7, status = -1, broken;
    pid_t const child = fork();
    if (child == 0) {
        int const code = MPI_Error_class(MPI_ERR_COMM, &error_class);
        _exit(code == MPI_SUCCESS && error_class == MPI_ERR_COMM ? 7 : 1);
    }
    waitpid(child, &status, 0);
    broken = !WIFEXITED(status) || WEXITSTATUS(status) != 7;
    puts(broken ? "BUG: MPI_Error_class before MPI_Init fails or ends the process" : "OK");
    MPI_Init(&argc, &argv);
    MPI_Finalize();
    return broken;
}
