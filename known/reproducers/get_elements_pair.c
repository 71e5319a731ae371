/* MPI_Get_elements of pair types such as MPI_DOUBLE_INT.
 *
 * build: mpicc get_elements_pair.c -o get_elements     run: mpiexec -n 1 ./get_elements
 * MPI-5.0 section 5.1.11: MPI_Get_elements returns the number of basic elements received; section 6.9.4: a pair type is
 *   as if made by MPI_Type_create_struct or MPI_Type_contiguous from two basic types, so one pair has two elements.
 * expected: 6 elements in 3 pairs.
 * observed: 3 (Open MPI 4.1.4 to 5.0.11; open-mpi/ompi#2366); SIGFPE for MPI_FLOAT_INT (MPICH 4.0.2 to 5.0.2, Intel MPI
 *   2021.19.0): the signal is reported, not survived.
 */
// run: np=1 timeout=10
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static void on_fpe(int signal) {
    static char const text[] = "BUG: SIGFPE in MPI_Get_elements\n";
    (void)signal;
    _exit(write(1, text, sizeof text - 1) < 0 ? 2 : 1);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Datatype const types[] = {MPI_2INT,       MPI_SHORT_INT,       MPI_LONG_INT,
                                  MPI_DOUBLE_INT, MPI_LONG_DOUBLE_INT, MPI_FLOAT_INT};
    char const* const names[] = {"MPI_2INT",       "MPI_SHORT_INT",       "MPI_LONG_INT",
                                 "MPI_DOUBLE_INT", "MPI_LONG_DOUBLE_INT", "MPI_FLOAT_INT"};
    int wrong = 0;
    signal(SIGFPE, on_fpe);
    for (int i = 0; i < 6; ++i) {
        long double out[8] = {0}, in[8]; // aligned for every one of them, with room for 3
        MPI_Status status;
        int elements = -1;
        MPI_Sendrecv(out, 3, types[i], 0, 0, in, 3, types[i], 0, 0, MPI_COMM_SELF, &status);
        MPI_Get_elements(&status, types[i], &elements);
        if (elements == 6) continue;
        ++wrong;
        printf("BUG: MPI_Get_elements gives %d for 3 of %s, expected 6\n", elements, names[i]);
        fflush(stdout);
    }
    if (wrong == 0) puts("OK");
    MPI_Finalize();
    return wrong != 0;
}
