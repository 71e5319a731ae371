/* MPICH 4.0: an error that belongs to no object is told to the handler of MPI_COMM_WORLD.
 *
 * build: mpicc mpich_nobodys_handler.c -o mpich_nobodys_handler        run: mpiexec -n 1 ./mpich_nobodys_handler
 * MPI-5.0 section 9.3 (since MPI-4.0): procedures that refer to no object from which a handler can be obtained are attached to
 *   MPI_COMM_SELF.
 * expected: the handler of MPI_COMM_SELF is called.
 * observed: that of MPI_COMM_WORLD.
 */
// run: np=1 timeout=10
#include <mpi.h>
#include <stdio.h>

static int calls[2]; /* of MPI_COMM_WORLD, of MPI_COMM_SELF */

static void handler(MPI_Comm* comm, int* code, ...) {
    (void)code;
    ++calls[*comm == MPI_COMM_SELF];
}

int main(int argc, char** argv) {
    MPI_Errhandler counting;
    MPI_Datatype type;
    MPI_Init(&argc, &argv);
    MPI_Comm_create_errhandler(handler, &counting);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, counting);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, counting);
    MPI_Type_contiguous(-1, MPI_INT, &type);
    if (MPI_VERSION < 4) printf("N/A: the library is one of MPI-%d\n", MPI_VERSION);
    else if (calls[0] + calls[1] == 0) printf("N/A: the error is not noticed\n");
    else
        printf("%s: calls for MPI_COMM_WORLD: %d, for MPI_COMM_SELF: %d\n", calls[0] ? "BUG" : "OK", calls[0],
               calls[1]);
    MPI_Errhandler_free(&counting);
    MPI_Finalize();
    return MPI_VERSION >= 4 && calls[0] != 0;
}
