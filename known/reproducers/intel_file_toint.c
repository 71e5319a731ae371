/* MPI_File_toint gives other integers than those of the ABI for MPI_FILE_NULL, and those of predefined handles for files.
 *
 * build: mpicc_abi intel_file_toint.c -o toint       run: mpiexec -n 1 ./toint
 * MPI-5.0 section 20.4.5: for predefined handles the integer is that of annex A.1.1, where MPI_FILE_NULL is 280; for others it
 * does not conflict with those that are reserved for predefined handles, 1 to 4095 (section 20.3.3).
 * expected: 280, and for an open file less than 1 or more than 4095.
 * observed: 0, and 1 (Intel MPI 2021.19.0, libmpi_abi.so).
 */
// run: np=1 timeout=10
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    int major = -1, minor = -1, none, open, broken;
    MPI_File file;
    MPI_Init(&argc, &argv);
    MPI_Abi_get_version(&major, &minor);
    if (MPI_File_open(MPI_COMM_SELF, "toint.tmp", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                      MPI_INFO_NULL, &file) != MPI_SUCCESS)
        return 2;
    none = MPI_File_toint(MPI_FILE_NULL);
    open = MPI_File_toint(file);
    broken = major >= 1 && (none != 280 || (open >= 1 && open <= 4095));
    printf("%s: MPI_FILE_NULL becomes %d, an open file %d\n", broken ? "BUG" : "OK", none, open);
    MPI_File_close(&file);
    MPI_Finalize();
    return broken;
}
