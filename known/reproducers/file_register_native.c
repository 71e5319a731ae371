/* MPICH, Intel MPI, Open MPI: MPI_Register_datarep of "native" does not say that it is defined already.
 *
 * build: mpicc file_register_native.c -o native     run: mpiexec -n 1 ./native
 * MPI-5.0 section 14.5.3: if the representation is already defined, an error of class MPI_ERR_DUP_DATAREP is raised.
 * expected: MPI_ERR_DUP_DATAREP for "native", "internal" and "external32", which MPI defines (section 14.5).
 * observed: MPI_SUCCESS (MPICH, Intel MPI), MPI_ERR_OTHER (Open MPI).
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
    static char const* const names[] = {"native", "internal", "external32"};
    int wrong = 0;
    MPI_Init(&argc, &argv);
    for (int i = 0; i < 3; ++i) {
        int class = -1;
        int const code =
            MPI_Register_datarep(names[i], MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, extent_of, NULL);
        MPI_Error_class(code, &class);
        if (class == MPI_ERR_DUP_DATAREP) continue;
        printf("BUG: %s: class %d, expected MPI_ERR_DUP_DATAREP (%d)\n", names[i], class, MPI_ERR_DUP_DATAREP);
        wrong = 1;
    }
    if (!wrong) puts("OK");
    MPI_Finalize();
    return wrong;
}
