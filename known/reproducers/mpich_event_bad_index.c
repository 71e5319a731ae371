/* An event type that does not exist.
 *
 * MPI-5.0 section 15.3.8.3: MPI_T_event_get_info returns MPI_T_ERR_INVALID_INDEX if event_index does not match a valid event type
 * index. Section 15.3: unsuccessful calls to the tools interface are not fatal.
 * Expected: MPI_T_ERR_INVALID_INDEX.
 * Observed: MPICH 5 with the ABI of MPI-5.0 ends the process: it converts the datatypes that it has not set. What they are is chance,
 *           so that some processes die and others do not.
 * Build and run: mpicc -o a mpich_event_bad_index.c && mpiexec -n 4 ./a
 */
// run: np=4 timeout=20 runs=3
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int returned = 0;
static void at_end(void) {
    if (!returned) printf("BUG: MPI_T_event_get_info ends the process\n");
    fflush(stdout);
}

int main(void) {
    int provided, n = 0;
    atexit(at_end);
    MPI_Init(NULL, NULL);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_T_event_get_num(&n);
    char name[64], desc[64];
    int name_len = 64, desc_len = 64, verbosity, elements = 4, bind;
    MPI_Datatype types[4];
    MPI_Aint displacements[4];
    MPI_T_enum values;
    MPI_Info info;
    int const code = MPI_T_event_get_info(n, name, &name_len, &verbosity, types, displacements, &elements, &values,
                                          &info, desc, &desc_len, &bind);
    returned = 1;
    int const right = code == MPI_T_ERR_INVALID_INDEX;
    printf("%s: MPI_T_event_get_info of index %d returns %d, MPI_T_ERR_INVALID_INDEX is %d\n", right ? "OK" : "BUG", n,
           code, MPI_T_ERR_INVALID_INDEX);
    fflush(stdout);
    MPI_Finalize();
    return right ? 0 : 1;
}
