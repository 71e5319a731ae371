/* Intel MPI: libmpi_abi.so takes MPI_ERRORS_RETURN and MPI_ERRORS_ABORT for each other, so that errors end the job.
 *
 * build: mpicc intel_errors_return.c -o errors_return           run: mpiexec -n 1 ./errors_return
 * MPI-5.0 sections A.1.1 and 9.3: MPI_ERRORS_ABORT is 322 and MPI_ERRORS_RETURN 323; with this the error code is returned to the
 * caller. Section 14.7: files begin with it.
 * expected: MPI_FILE_NULL has MPI_ERRORS_RETURN; of MPI_Send of -1 elements an error code comes back, or nothing is noticed.
 * observed: MPI_FILE_NULL has MPI_ERRORS_ABORT; without this check "Fatal error in internal_Send", and the job ends. After
 * MPI_Comm_set_errhandler of MPI_ERRORS_ABORT the code comes back.
 */
// run: np=1 timeout=10
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    MPI_Errhandler of_files;
    MPI_Init(&argc, &argv);
    MPI_File_get_errhandler(MPI_FILE_NULL, &of_files);
    if (of_files == MPI_ERRORS_ABORT) {
        puts("BUG: MPI_FILE_NULL has MPI_ERRORS_ABORT");
        MPI_Finalize();
        return 1;
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Send(NULL, -1, MPI_INT, 0, 7, MPI_COMM_WORLD);
    puts("OK: the job goes on");
    MPI_Finalize();
    return 0;
}
