/* Intel MPI: canonical packing leaves subarrays, structs and pairs in the byte order of the machine.
 *
 * build: mpicc intel_pack_external_order.c -o pack_external_order           run: mpiexec -n 1 ./pack_external_order
 * MPI-5.0 sections 5.3, 14.5.2: in "external32" the bytes of integers and floating-point numbers are in big-endian order.
 * expected: the int 1 of a subarray as 00 00 00 01.
 * observed: 01 00 00 00. So it is within structs of int and double, and in MPI_FLOAT_INT.
 */
// run: np=1 timeout=10
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    unsigned char out[4] = {0};
    int array[3] = {0, 1, 0}, size = 3, one = 1, wrong;
    MPI_Aint position = 0;
    MPI_Datatype type;
    MPI_Init(&argc, &argv);
    MPI_Type_create_subarray(1, &size, &one, &one, MPI_ORDER_C, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Pack_external("external32", array, 1, type, out, sizeof out, &position);
    wrong = out[3] != 1;
    printf("%s: %02x %02x %02x %02x, expected 00 00 00 01\n", wrong ? "BUG" : "OK", out[0], out[1], out[2], out[3]);
    MPI_Type_free(&type);
    MPI_Finalize();
    return wrong;
}
