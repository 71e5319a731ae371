/* MPICH: MPI_Get_elements of a message of pair types divides by zero or gives MPI_UNDEFINED.
 *
 * build: mpicc mpich_get_elements_pair.c -o get_elements     run: mpiexec -n 1 ./get_elements
 * MPI-5.0 section 5.1.11: MPI_Get_elements returns the number of basic elements received; section 6.9.4: MPI_SHORT_INT
 *   is as if made by MPI_Type_create_struct, so one of it holds two basic elements.
 * expected: 3 for {char, MPI_SHORT_INT}, 2 for MPI_FLOAT_INT.
 * observed: MPI_UNDEFINED for the struct, SIGFPE (MPICH 5.0.2) for MPI_FLOAT_INT; the signal is reported, not survived.
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static void on_fpe(int signal) {
    static char const text[] = "BUG: SIGFPE in MPI_Get_elements\n";
    (void)signal;
    _exit(write(1, text, sizeof text - 1) < 0 ? 2 : 1);
}

static int elements(MPI_Datatype type) {
    char out[64] = "", in[64];
    MPI_Status status;
    int n = -1;
    MPI_Sendrecv(out, 1, type, 0, 0, in, 1, type, 0, 0, MPI_COMM_SELF, &status);
    MPI_Get_elements(&status, type, &n);
    return n;
}

int main(int argc, char **argv) {
    MPI_Datatype nested;
    MPI_Init(&argc, &argv);
    signal(SIGFPE, on_fpe);
    MPI_Type_create_struct(2, (int[]){1, 1}, (MPI_Aint[]){0, 4}, (MPI_Datatype[]){MPI_CHAR, MPI_SHORT_INT}, &nested);
    MPI_Type_commit(&nested);
    int const of_struct = elements(nested);
    printf("struct {char, MPI_SHORT_INT}: %d basic elements, expected 3 (MPI_UNDEFINED is %d)\n", of_struct, MPI_UNDEFINED);
    fflush(stdout);
    int const of_pair = elements(MPI_FLOAT_INT);
    printf("MPI_FLOAT_INT: %d basic elements, expected 2\n", of_pair);
    int const broken = of_struct != 3 || of_pair != 2;
    puts(broken ? "BUG" : "OK");
    MPI_Finalize();
    return broken;
}
