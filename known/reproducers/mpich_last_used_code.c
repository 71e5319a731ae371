/* MPI_LASTUSEDCODE still names an error class that was removed.
 *
 * build: mpicc mpich_last_used_code.c -o last       run: mpiexec -n 1 ./last
 * MPI-5.0 section 9.5.1: MPI_Remove_error_class updates MPI_LASTUSEDCODE to the largest class there is.
 * expected: the value from before MPI_Add_error_class.
 * observed: the value of the class that was removed (MPICH 4.3.2, 5.0.2).
 */
// run: np=1 timeout=10
#include <mpi.h>
#include <stdio.h>

static int last(void) {
    int flag, *value;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &value, &flag);
    return flag ? *value : -1;
}

int main(int argc, char** argv) {
    int error_class, before, after;
    MPI_Init(&argc, &argv);
    before = last();
    MPI_Add_error_class(&error_class);
    MPI_Remove_error_class(error_class);
    after = last();
    printf("%s: MPI_LASTUSEDCODE was %d, class %d came and went, now it is %d\n", after != before ? "BUG" : "OK",
           before, error_class, after);
    MPI_Finalize();
    return after != before;
}
