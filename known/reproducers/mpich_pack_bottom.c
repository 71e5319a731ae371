/* MPICH 4.0: MPI_Pack and MPI_Unpack refuse MPI_BOTTOM.
 *
 * build: mpicc mpich_pack_bottom.c -o mpich_pack_bottom        run: mpiexec -n 1 ./mpich_pack_bottom
 * MPI-5.0 sections 5.1.12, 5.2: MPI_BOTTOM is a buffer address of datatypes with absolute addresses; inbuf of MPI_Pack can be
 *   any communication buffer that MPI_Send allows, outbuf of MPI_Unpack any that MPI_Recv allows.
 * expected: MPI_SUCCESS, and the value.
 * observed: "Null pointer in parameter inbuf".
 */
// run: np=1 timeout=10
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
    int const one = 1;
    int value = 42, position = 0, size = 0, packed = 0, codes[2];
    MPI_Aint address;
    MPI_Datatype type;
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Get_address(&value, &address);
    MPI_Type_create_hindexed(1, &one, &address, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Pack_size(1, type, MPI_COMM_WORLD, &size);
    char* const room = malloc(size);
    codes[0] = MPI_Pack(MPI_BOTTOM, 1, type, room, size, &position, MPI_COMM_WORLD);
    position = 0; // what is packed may have a header: only MPI_Unpack can read it
    if (codes[0] == MPI_SUCCESS) MPI_Unpack(room, size, &position, &packed, 1, MPI_INT, MPI_COMM_WORLD);
    position = 0;
    MPI_Pack(&value, 1, MPI_INT, room, size, &position, MPI_COMM_WORLD);
    value = position = 0;
    codes[1] = MPI_Unpack(room, size, &position, MPI_BOTTOM, 1, type, MPI_COMM_WORLD);
    int const bug = codes[0] != MPI_SUCCESS || codes[1] != MPI_SUCCESS || packed != 42 || value != 42;
    printf("%s: returned %d and %d, packed %d, unpacked %d, expected %d and %d, 42, 42\n", bug ? "BUG" : "OK", codes[0],
           codes[1], packed, value, MPI_SUCCESS, MPI_SUCCESS);
    free(room);
    MPI_Type_free(&type);
    MPI_Finalize();
    return bug;
}
