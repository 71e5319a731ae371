/* Intel MPI: MPI_Alloc_mem does not heed mpi_minimum_memory_alignment.
 *
 * build: mpicc intel_alloc_alignment.c -o alloc_alignment           run: mpiexec -n 1 ./alloc_alignment
 * MPI-5.0 section 9.2 (since MPI-4.0): the user can request a minimum alignment by the info key mpi_minimum_memory_alignment.
 * expected: an address that 65536 divides.
 * observed: any address.
 */
// run: np=1 timeout=10
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>

int main(int argc, char** argv) {
    void* at[8];
    int wrong = 0;
    MPI_Info info;
    MPI_Init(&argc, &argv);
    if (MPI_VERSION < 4) {
        printf("N/A: the key is new in MPI-4.0\n");
        MPI_Finalize();
        return 0;
    }
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_minimum_memory_alignment", "65536");
    for (int i = 0; i < 8; ++i) {
        MPI_Alloc_mem(4099, info, &at[i]);
        wrong += (uintptr_t)at[i] % 65536 != 0;
    }
    printf("%s: %d of 8 addresses are not aligned, the last is %p\n", wrong ? "BUG" : "OK", wrong, at[7]);
    for (int i = 0; i < 8; ++i) MPI_Free_mem(at[i]);
    MPI_Info_free(&info);
    MPI_Finalize();
    return wrong != 0;
}
