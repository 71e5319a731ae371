/* Intel MPI: libmpi_abi.so takes MPI_ERRORS_RETURN and MPI_ERRORS_ABORT for each other, so that errors end the job.
 *
 * build: mpicc intel_errors_return.c -o errors_return           run: mpiexec -n 1 ./errors_return
 * MPI-5.0 sections A.1.1 and 9.3: MPI_ERRORS_ABORT is 322 and MPI_ERRORS_RETURN 323; the latter does nothing but return the
 * error code to the caller. MPI-5.0 contradicts itself: the bit patterns of section 20.5 are 323 for MPI_ERRORS_ABORT and 322
 * for MPI_ERRORS_RETURN. The MPI Forum's header (mpi-abi-stubs) had these until October 2025 and has followed A.1.1 since then:
 * what is compiled with it, or with the mpi_abi.h of MPICH, meets the two exchanged.
 * Section 14.7: files begin with MPI_ERRORS_RETURN. Section 9.5.2: MPI_Comm_call_errhandler invokes the handler.
 * expected: MPI_FILE_NULL has MPI_ERRORS_RETURN; MPI_Comm_call_errhandler of MPI_ERRORS_RETURN comes back.
 * observed: MPI_FILE_NULL has MPI_ERRORS_ABORT; without this check an error such as that of MPI_Send of -1 elements ends the
 * job. After MPI_Comm_set_errhandler of MPI_ERRORS_ABORT its code comes back.
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
    MPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_OTHER); // a wrong argument need not be noticed
    puts("OK: the job goes on");
    MPI_Finalize();
    return 0;
}
