/* MPICH: MPI_Get_elements of a struct that holds a pair type does not count its elements.
 *
 * build: mpicc mpich_get_elements_struct.c -o get_elements     run: mpiexec -n 1 ./get_elements
 * MPI-5.0 section 5.1.11: MPI_Get_elements returns the number of basic elements received; section 6.9.4: MPI_SHORT_INT is
 *   as if made by MPI_Type_create_struct, so one of it holds two basic elements.
 * expected: 3 for one {char, MPI_SHORT_INT}.
 * observed: MPI_UNDEFINED (MPICH 4.3.2 to 5.0.2, Intel MPI 2021.19.0), 1 (MPICH 4.0).
 */
// run: np=1 timeout=10
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    int out[16] = {0}, in[16]; // aligned for the struct
    int elements = -7;
    MPI_Datatype type;
    MPI_Status status;
    MPI_Init(&argc, &argv);
    MPI_Type_create_struct(2, (int[]){1, 1}, (MPI_Aint[]){0, 4}, (MPI_Datatype[]){MPI_CHAR, MPI_SHORT_INT}, &type);
    MPI_Type_commit(&type);
    MPI_Sendrecv(out, 1, type, 0, 0, in, 1, type, 0, 0, MPI_COMM_SELF, &status);
    MPI_Get_elements(&status, type, &elements);
    printf("%s: %d basic elements, expected 3 (MPI_UNDEFINED is %d)\n", elements == 3 ? "OK" : "BUG", elements,
           MPI_UNDEFINED);
    MPI_Type_free(&type);
    MPI_Finalize();
    return elements != 3;
}
