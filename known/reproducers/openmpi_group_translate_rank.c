/* Open MPI: MPI_Group_translate_ranks of a rank outside the group ends the process under MPI_ERRORS_RETURN.
 *
 * build: mpicc openmpi_group_translate_rank.c -o group_translate_rank       run: mpiexec -n 1 ./group_translate_rank
 * MPI-5.0 section 9.3: which errors are found is the library's affair; under MPI_ERRORS_RETURN one that is found comes
 *   back as a code (advisory: after an error the state of MPI is undefined).
 * expected: an error code.
 * observed: a segmentation fault (Open MPI 4.1.4 to 5.0.11).
 */
// run: np=1 timeout=10
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    int wrong[2] = {2, 3}, result[2] = {0, 0}, code;
    MPI_Group group;
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_group(MPI_COMM_SELF, &group);
    code = MPI_Group_translate_ranks(group, 1, wrong, group, result);
    puts(code == MPI_SUCCESS ? "BUG: rank 2 of a group of one is translated" : "OK");
    MPI_Finalize();
    return code == MPI_SUCCESS;
}
