/* MPI_COMPLEX32 is there and has the size 0.
 *
 * build: mpicc openmpi_complex32_size.c -o complex32       run: mpiexec -n 1 ./complex32
 * MPI-5.0 section 19.1.9.2: the name of a size-specific datatype tells its length in bytes. One that is not supported is not in the
 * header of a library without the ABI, and has the size MPI_UNDEFINED with it (section 20.4).
 * expected: 32 or MPI_UNDEFINED.
 * observed: 0 (Open MPI 5.0.11).
 */
// run: np=1 timeout=10
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    int size = -7, broken = 0;
    MPI_Init(&argc, &argv);
#ifdef MPI_COMPLEX32
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (MPI_COMPLEX32 != MPI_DATATYPE_NULL) {
        MPI_Type_size(MPI_COMPLEX32, &size);
        broken = size != 32 && size != MPI_UNDEFINED;
    }
#endif
    printf("%s: MPI_COMPLEX32 has the size %d\n", broken ? "BUG" : "OK", size);
    MPI_Finalize();
    return broken;
}
