/* Open MPI: MPI_Register_datarep fails whatever it is given.
 *
 * build: mpicc file_register.c -o register     run: mpiexec -n 1 ./register
 * MPI-5.0 section 14.5.3: the call associates the functions, or MPI_CONVERSION_FN_NULL, with a name; a second one is refused.
 * expected: MPI_SUCCESS, then MPI_ERR_DUP_DATAREP.
 * observed: MPI_ERR_OTHER.
 */
// run: np=1 timeout=20
#include <mpi.h>
#include <stdio.h>

static int extent_of(MPI_Datatype type, MPI_Aint* extent, void* state) {
    (void)type, (void)state;
    *extent = sizeof(int);
    return MPI_SUCCESS;
}

int main(int argc, char** argv) {
    int class[2] = {-1, -1};
    MPI_Init(&argc, &argv);
    for (int i = 0; i < 2; ++i)
        MPI_Error_class(MPI_Register_datarep("mine", MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, extent_of, NULL),
                        &class[i]);
    int const wrong = class[0] != MPI_SUCCESS || class[1] != MPI_ERR_DUP_DATAREP;
    if (wrong)
        printf("BUG: classes %d and %d, expected %d and %d\n", class[0], class[1], MPI_SUCCESS, MPI_ERR_DUP_DATAREP);
    else puts("OK");
    MPI_Finalize();
    return wrong;
}
