/* A datatype made of a C++ complex type has no data.
 * Build and run: mpicc mpich_hindexed_cxx.c -o hindexed_cxx && mpiexec -n 1 ./hindexed_cxx
 * MPI-5.0 section 3.2.2: MPI_CXX_DOUBLE_COMPLEX is std::complex<double>, of 16 bytes, where there is a C++ compiler; sections
 *   5.1.2 and 5.1.5: a block of three makes a type of three of them, and its size is that of all its data.
 * Expected: 48 for a block of 3. Observed with MPICH 4.3.2: 0, and nothing is sent.
 */
// run: np=1 timeout=10
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int length = 3, one = -1, all = -1;
    MPI_Aint displacement = 0;
    MPI_Datatype made;
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (MPI_Type_size(MPI_CXX_DOUBLE_COMPLEX, &one) != MPI_SUCCESS || one == MPI_UNDEFINED) {
        puts("N/A: no C++ datatypes");
        MPI_Finalize();
        return 0;
    }
    MPI_Type_create_hindexed(1, &length, &displacement, MPI_CXX_DOUBLE_COMPLEX, &made);
    MPI_Type_commit(&made);
    MPI_Type_size(made, &all);
    double out[6] = {1, 2, 3, 4, 5, 6}, in[6] = {0};
    MPI_Sendrecv(out, 1, made, 0, 0, in, 3, MPI_CXX_DOUBLE_COMPLEX, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    int const bad = one != 16 || all != 48 || in[5] != 6;
    printf("%s: size of the type %d, of a block of three %d, last number received %g\n", bad ? "BUG" : "OK", one, all,
           in[5]);
    MPI_Type_free(&made);
    MPI_Finalize();
    return bad;
}
