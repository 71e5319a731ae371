/* Open MPI: MPI_Scatterv on an intercommunicator takes the counts of the root for counts of the receivers.
 *
 * build: mpicc openmpi_inter_scatterv.c -o inter_scatterv        run: mpiexec -n 2 ./inter_scatterv
 * MPI-5.0 section 6.6: only the type signatures of sendcounts[i], sendtype at the root and of recvcount, recvtype at process
 *   i must be equal; the type maps may be different.
 * expected: 8 integers arrive as one element of a datatype of 8 integers.
 * observed: MPI_ERR_TRUNCATE. The first process of the receiving group gets the message of all in the counts of the root,
 *   but in its own datatype, and passes on 8 elements of 8 integers.
 */
// run: np=2 timeout=20
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    enum { n = 8 };
    int rank, out[n], in[n] = {0}, count = n, displacement = 0, wrong = 0;
    MPI_Comm local, both;
    MPI_Datatype eight;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank, 0, &local);
    MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, 1 - rank, 0, &both);
    MPI_Comm_set_errhandler(both, MPI_ERRORS_RETURN);
    MPI_Type_contiguous(n, MPI_INT, &eight);
    MPI_Type_commit(&eight);
    for (int i = 0; i < n; ++i) out[i] = i + 1;
    int code;
    if (rank == 0) code = MPI_Scatterv(out, &count, &displacement, MPI_INT, NULL, 0, MPI_INT, MPI_ROOT, both);
    else code = MPI_Scatterv(NULL, NULL, NULL, MPI_INT, in, 1, eight, 0, both);
    for (int i = 0; rank == 1 && i < n; ++i) wrong += in[i] != i + 1;
    if (rank == 1)
        printf("%s: MPI_Scatterv returned %s, %d of %d elements are wrong\n", code || wrong ? "BUG" : "OK",
               code ? "an error" : "MPI_SUCCESS", wrong, n);
    MPI_Type_free(&eight);
    MPI_Comm_free(&both);
    MPI_Comm_free(&local);
    MPI_Finalize();
    return code != MPI_SUCCESS || wrong > 0;
}
