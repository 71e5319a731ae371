/* Intel MPI: duplicates of a communicator inherit its hints.
 *
 * build: mpicc intel_dup_hints.c -o dup_hints           run: mpiexec -n 2 ./dup_hints
 * MPI-5.0 section 7.4.4: info hints are not propagated from one communicator to another (since MPI-4.0).
 * expected: mpi_assert_no_any_tag of the duplicate is "false" or not there.
 * observed: "true".
 */
// run: np=2 timeout=10
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    char value[16] = "(not there)";
    int wrong, flag = 0, size = sizeof value;
    MPI_Comm base, copy;
    MPI_Info info;
    MPI_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &base);
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_assert_no_any_tag", "true");
    MPI_Comm_set_info(base, info);
    MPI_Info_free(&info);
    MPI_Comm_dup(base, &copy);
    MPI_Comm_get_info(copy, &info);
    MPI_Info_get_string(info, "mpi_assert_no_any_tag", &size, value, &flag);
    wrong = flag && value[0] == 't';
    printf("%s: mpi_assert_no_any_tag of the duplicate is %s\n", wrong ? "BUG" : "OK", value);
    MPI_Info_free(&info);
    MPI_Comm_free(&copy);
    MPI_Comm_free(&base);
    MPI_Finalize();
    return wrong;
}
