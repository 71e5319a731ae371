/* MPICH: MPI_Pack_external_size gives 0 for the datatypes of Fortran kinds.
 *
 * build: mpicc mpich_pack_external_f90.c -o pack_external     run: mpiexec -n 1 ./pack_external
 * MPI-5.0 section 19.1.9.1: what MPI_Type_create_f90_integer(9) returns takes 4 bytes in "external32".
 * expected: 12 for 3 elements.
 * observed: 0.
 */
// run: np=1 timeout=10
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    MPI_Aint size = -7;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    if (MPI_Type_create_f90_integer(9, &type) != MPI_SUCCESS || type == MPI_DATATYPE_NULL) {
        printf("N/A: built without Fortran\n");
        MPI_Finalize();
        return 0;
    }
    MPI_Pack_external_size("external32", 3, type, &size);
    printf("%s: %ld bytes, expected 12\n", size == 12 ? "OK" : "BUG", (long)size);
    MPI_Finalize();
    return size != 12;
}
