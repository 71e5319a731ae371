/* MPICH 4.0: MPI_Pack and MPI_Unpack refuse MPI_BOTTOM.
 *
 * build: mpicc mpich_pack_bottom.c -o mpich_pack_bottom        run: mpiexec -n 1 ./mpich_pack_bottom
 * MPI-5.0 sections 5.1.12, 5.2: MPI_BOTTOM is a buffer address of datatypes with absolute addresses; inbuf of MPI_Pack can be
 *   any communication buffer.
 * expected: MPI_SUCCESS.
 * observed: "Null pointer in parameter inbuf".
 */
// run: np=1 timeout=10
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    int const one = 1;
    int value = 42, position = 0, packed[8] = {0};
    MPI_Aint address;
    MPI_Datatype type;
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Get_address(&value, &address);
    MPI_Type_create_hindexed(1, &one, &address, MPI_INT, &type);
    MPI_Type_commit(&type);
    int const code = MPI_Pack(MPI_BOTTOM, 1, type, packed, sizeof packed, &position, MPI_COMM_WORLD);
    int const bug = code != MPI_SUCCESS || packed[0] != value;
    printf("%s: returned %d, packed %d, expected %d and %d\n", bug ? "BUG" : "OK", code, packed[0], MPI_SUCCESS, value);
    MPI_Type_free(&type);
    MPI_Finalize();
    return bug;
}
