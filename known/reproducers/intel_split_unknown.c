/* Intel MPI: MPI_Comm_split_type by a hardware resource that it does not know gives a communicator.
 *
 * build: mpicc intel_split_unknown.c -o split_unknown           run: mpiexec -n 2 ./split_unknown
 * MPI-5.0 section 7.4.2: if the value of the info key mpi_hw_resource_type is not recognized by the implementation,
 * newcomm is MPI_COMM_NULL.
 * expected: MPI_COMM_NULL.
 * observed: a communicator.
 */
// run: np=2 timeout=10
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    MPI_Comm part = MPI_COMM_NULL;
    MPI_Info info;
    int wrong;
    MPI_Init(&argc, &argv);
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_hw_resource_type", "no such resource");
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, 0, info, &part);
    wrong = part != MPI_COMM_NULL;
    printf("%s: %s, expected MPI_COMM_NULL\n", wrong ? "BUG" : "OK", wrong ? "a communicator" : "MPI_COMM_NULL");
    if (wrong) MPI_Comm_free(&part);
    MPI_Info_free(&info);
    MPI_Finalize();
    return wrong;
}
