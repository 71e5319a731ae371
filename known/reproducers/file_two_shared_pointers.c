/* MPICH, Intel MPI, Open MPI: two opens of one file have one shared file pointer.
 *
 * build: mpicc file_two_shared_pointers.c -o two     run: mpiexec -n 1 ./two
 * MPI-5.0 section 14.4.4: MPI maintains exactly one shared file pointer for each collective MPI_File_open.
 * expected: 3 through the handle that was moved, 0 through the other.
 * observed: 3 and 3 (MPICH: where both are opened in the same second, in which the file of the pointer gets the same name).
 */
// run: np=1 timeout=20 runs=5
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
    MPI_File a, b;
    MPI_Offset of_a = -1, of_b = -1;
    char path[] = "/tmp/assay_two_shared_pointers-XXXXXX", data[3];
    MPI_Init(&argc, &argv);
    if (mkstemp(path) < 0) return 2;
    MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &a);
    MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &b);
    MPI_File_read_ordered(a, data, 3, MPI_BYTE, MPI_STATUS_IGNORE); // nothing is there: the pointer moves all the same
    MPI_File_get_position_shared(a, &of_a);
    MPI_File_get_position_shared(b, &of_b);
    int const wrong = of_a != 3 || of_b != 0;
    if (wrong) printf("BUG: the shared file pointers are %d and %d, expected 3 and 0\n", (int)of_a, (int)of_b);
    else puts("OK");
    MPI_File_close(&b);
    MPI_File_close(&a);
    remove(path);
    MPI_Finalize();
    return wrong;
}
