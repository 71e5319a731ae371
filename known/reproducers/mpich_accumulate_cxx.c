/* MPICH 4.3: MPI_Accumulate of a C++ complex type ends the job.
 *
 * build: mpicc mpich_accumulate_cxx.c -o mpich_accumulate_cxx        run: mpiexec -n 2 ./mpich_accumulate_cxx
 * MPI-5.0 section 12.3.4.1: each datatype argument must be predefined, or derived from copies of one predefined datatype;
 *   MPI_CXX_DOUBLE_COMPLEX is predefined where there is a C++ compiler (section 3.2.2), as here.
 * expected: both numbers arrive in the window.
 * observed: an assertion fails: the library takes such a type as one without data.
 */
// run: np=2 timeout=20
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void left(void) {
    static char const text[] = "BUG: the library ended the process in MPI_Accumulate\n";
    (void)!write(1, text, sizeof text - 1);
    _exit(1);
}

int main(int argc, char** argv) {
    int rank, bad = 0;
    double window[4] = {0}, from[4] = {1, 2, 3, 4};
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_create(window, sizeof window, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    atexit(left);
    MPI_Win_fence(0, win);
    if (rank == 0) MPI_Accumulate(from, 2, MPI_CXX_DOUBLE_COMPLEX, 1, 0, 2, MPI_CXX_DOUBLE_COMPLEX, MPI_REPLACE, win);
    MPI_Win_fence(0, win);
    if (rank == 1) {
        bad = window[0] != 1 || window[3] != 4;
        printf("%s: the window holds %g … %g\n", bad ? "BUG" : "OK", window[0], window[3]);
        fflush(stdout);
    }
    MPI_Win_free(&win);
    MPI_Finalize();
    _exit(bad);
}
