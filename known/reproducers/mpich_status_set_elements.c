/* MPICH before 5: MPI_Status_set_elements counts copies of the datatype instead of its basic elements.
 *
 * build: mpicc mpich_status_set_elements.c -o set_elements   run: mpiexec -n 1 ./set_elements
 * MPI-5.0 section 13.3: after MPI_Status_set_elements, MPI_Get_elements returns the count that was set, and MPI_Get_count
 *   a value that fits it: two elements of a datatype of two ints are one copy.
 * expected: MPI_Get_elements 2, MPI_Get_count 1.
 * observed: MPI_Get_elements 4, MPI_Get_count 2.
 */
// run: np=1 timeout=10
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    MPI_Datatype two_ints;
    MPI_Status status;
    int elements = -1, copies = -1;
    MPI_Init(&argc, &argv);
    MPI_Type_contiguous(2, MPI_INT, &two_ints);
    MPI_Type_commit(&two_ints);
    MPI_Status_set_elements(&status, two_ints, 2);
    MPI_Status_set_cancelled(&status, 0);
    MPI_Get_elements(&status, two_ints, &elements);
    MPI_Get_count(&status, two_ints, &copies);
    int const broken = elements != 2 || copies != 1;
    printf("%s: MPI_Get_elements %d, expected 2; MPI_Get_count %d, expected 1\n", broken ? "BUG" : "OK", elements,
           copies);
    MPI_Type_free(&two_ints);
    MPI_Finalize();
    return broken;
}
