/* Open MPI: MPI_Exscan on an intercommunicator ends the process under MPI_ERRORS_RETURN.
 *
 * build: mpicc openmpi_exscan_inter.c -o exscan_inter       run: mpiexec -n 2 ./exscan_inter
 * MPI-5.0 section 9.3: which errors are found is the library's affair; under MPI_ERRORS_RETURN one that is found comes
 *   back as a code (advisory: after an error the state of MPI is undefined). Section 6.11.2: MPI_Exscan is invalid for
 *   intercommunicators.
 * expected: an error code, as of MPI_Scan.
 * observed: a segmentation fault (Open MPI 4.1.4 to 5.0.11).
 */
// run: np=2 timeout=10
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    int rank, out = 1, in = 0, code;
    MPI_Comm self, inter;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_SELF, &self);
    MPI_Intercomm_create(self, 0, MPI_COMM_WORLD, 1 - rank, 0, &inter);
    MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
    MPI_Barrier(MPI_COMM_WORLD);
    code = MPI_Exscan(&out, &in, 1, MPI_INT, MPI_SUM, inter);
    if (rank == 0) puts(code == MPI_SUCCESS ? "BUG: MPI_Exscan on an intercommunicator succeeds" : "OK");
    MPI_Finalize();
    return code == MPI_SUCCESS;
}
