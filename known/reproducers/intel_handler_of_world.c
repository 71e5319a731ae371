/* Intel MPI: errors of calls without a communicator go to the handler of MPI_COMM_WORLD.
 *
 * build: mpicc intel_handler_of_world.c -o handler_of_world           run: mpiexec -n 1 ./handler_of_world
 * MPI-5.0 section 9.3: MPI calls that are not related to any objects are considered to be attached to MPI_COMM_SELF.
 * expected: MPI_Type_contiguous of -1 elements calls the handler of MPI_COMM_SELF.
 * observed: the handler of MPI_COMM_WORLD is called.
 */
// run: np=1 timeout=10
#include <mpi.h>
#include <stdio.h>

static int of_self, of_world;
static void self(MPI_Comm* comm, int* code, ...) { ++of_self; }
static void world(MPI_Comm* comm, int* code, ...) { ++of_world; }

int main(int argc, char** argv) {
    MPI_Errhandler handler;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Init(&argc, &argv);
    MPI_Comm_create_errhandler(self, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
    MPI_Comm_create_errhandler(world, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Type_contiguous(-1, MPI_INT, &type);
    printf("%s: handler of MPI_COMM_SELF called %d times, of MPI_COMM_WORLD %d times, expected 1 and 0\n",
           of_world ? "BUG" : "OK", of_self, of_world);
    MPI_Finalize();
    return of_world != 0;
}
