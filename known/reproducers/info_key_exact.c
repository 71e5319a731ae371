/* MPI_Info_set takes a key of MPI_MAX_INFO_KEY characters, one more than may be.
 *
 * build: mpicc info_key_exact.c -o info_key_exact       run: mpiexec -n 1 ./info_key_exact
 * MPI-5.0 section 10: keys have a maximum length of MPI_MAX_INFO_KEY - 1; MPI_Info_set raises MPI_ERR_INFO_KEY for one that is larger.
 * expected: MPI_ERR_INFO_KEY.
 * observed: MPI_SUCCESS, and the key has lost its last character (MPICH 5.0.2, Intel MPI 2021.19.0).
 */
// run: np=1 timeout=10
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char** argv) {
    char key[MPI_MAX_INFO_KEY + 1], got[MPI_MAX_INFO_KEY + 100];
    int code, length = 0;
    MPI_Info info;
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    memset(key, 'k', MPI_MAX_INFO_KEY);
    key[MPI_MAX_INFO_KEY] = '\0';
    memset(got, 0, sizeof got);
    MPI_Info_create(&info);
    code = MPI_Info_set(info, key, "1");
    if (code == MPI_SUCCESS) MPI_Info_get_nthkey(info, 0, got);
    length = (int)strlen(got);
    printf("%s: MPI_Info_set of a key of MPI_MAX_INFO_KEY (%d) characters returns %s; MPI_Info_get_nthkey gives %d "
           "characters\n",
           code == MPI_SUCCESS ? "BUG" : "OK", MPI_MAX_INFO_KEY, code == MPI_SUCCESS ? "MPI_SUCCESS" : "an error",
           length);
    MPI_Info_free(&info);
    MPI_Finalize();
    return code == MPI_SUCCESS;
}
