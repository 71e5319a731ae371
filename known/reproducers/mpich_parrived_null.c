/* MPICH: MPI_Parrived of MPI_REQUEST_NULL kills the process.
 *
 * build: mpicc mpich_parrived_null.c -o parrived           run: mpiexec -n 1 ./parrived
 * MPI-5.0 section 4.2.2: it may be called with a null or inactive request, and then gives flag true.
 * expected: flag is true.
 * observed: SIGSEGV in MPI_Parrived.
 */
// run: np=1 timeout=10
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    int flag = -1;
    MPI_Init(&argc, &argv);
    MPI_Parrived(MPI_REQUEST_NULL, 0, &flag);
    printf("%s: flag is %d, expected 1\n", flag == 1 ? "OK" : "BUG", flag);
    MPI_Finalize();
    return flag != 1;
}
