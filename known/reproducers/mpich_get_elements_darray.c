/* MPICH: MPI_Get_elements with a distributed array of structs ends the process.
 *
 * build: mpicc mpich_get_elements_darray.c -o get_elements     run: mpiexec -n 1 ./get_elements
 * MPI-5.0 section 5.1.11: MPI_Get_elements returns the number of basic elements received.
 * expected: 4 for the half of an array of 4 structs {double, char}.
 * observed: an assertion fails in MPI_Get_elements.
 */
// run: np=1 timeout=10
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    double out[8] = {0}, in[8]; // aligned for the structs
    int elements = -7;
    MPI_Datatype record, half;
    MPI_Status status;
    MPI_Init(&argc, &argv);
    MPI_Type_create_struct(2, (int[]){1, 1}, (MPI_Aint[]){0, 8}, (MPI_Datatype[]){MPI_DOUBLE, MPI_CHAR}, &record);
    MPI_Type_create_darray(2, 0, 1, (int[]){4}, (int[]){MPI_DISTRIBUTE_BLOCK}, (int[]){MPI_DISTRIBUTE_DFLT_DARG},
                           (int[]){2}, MPI_ORDER_C, record, &half);
    MPI_Type_commit(&half);
    MPI_Sendrecv(out, 1, half, 0, 0, in, 1, half, 0, 0, MPI_COMM_SELF, &status);
    MPI_Get_elements(&status, half, &elements);
    printf("%s: %d basic elements, expected 4\n", elements == 4 ? "OK" : "BUG", elements);
    MPI_Type_free(&record);
    MPI_Type_free(&half);
    MPI_Finalize();
    return elements != 4;
}
