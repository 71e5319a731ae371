/* Intel MPI, MPICH: MPI_File_read_at_c does not take a count that no int holds.
 *
 * build: mpicc file_read_beyond_int.c -o beyond     run: mpiexec -n 1 ./beyond
 * MPI-5.0 section 14.4.2: the count is an MPI_Count.
 * expected: the 100 bytes of the file, of 2^32 + 17 that are asked for.
 * observed: 17 (Intel MPI), a failed assertion (MPICH 4.0.3).
 */
// run: np=1 timeout=60
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

int main(int argc, char** argv) {
    MPI_Count const wanted = ((MPI_Count)1 << 32) + 17;
    MPI_File file;
    MPI_Status status;
    MPI_Count count = -1;
    char bytes[100] = "", path[] = "/tmp/assay_read_beyond_int-XXXXXX";
    MPI_Init(&argc, &argv);
    void* const memory =
        mmap(NULL, (size_t)wanted, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED || mkstemp(path) < 0) {
        puts("N/A: no memory or no file");
        return 0;
    }
    MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
    MPI_File_write_at(file, 0, bytes, 100, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_read_at_c(file, 0, memory, wanted, MPI_BYTE, &status);
    MPI_Get_count_c(&status, MPI_BYTE, &count);
    if (count == 100) puts("OK");
    else printf("BUG: read %lld bytes, expected 100\n", (long long)count);
    MPI_File_close(&file);
    MPI_Finalize();
    return count != 100;
}
