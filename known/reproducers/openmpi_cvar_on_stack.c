/* A control variable whose value changes with the caller's stack.
 *
 * MPI-5.0 section 15.3.6.3: MPI_T_cvar_read gives the value of the variable, MPI_T_cvar_write sets it.
 * Expected: two reads with nothing but other functions of the program between them give the same value.
 * Observed: Open MPI 5.0.11 keeps mpi_ft_verbose on the stack of a function that has returned; writing it overwrites variables
 * of the caller.
 * Build and run: mpicc -O0 -o a openmpi_cvar_on_stack.c && mpiexec -n 1 ./a
 */
// run: np=1 timeout=20
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static void fill_stack(int with) {
    volatile unsigned char area[32768];
    for (unsigned i = 0; i < sizeof area; ++i) area[i] = (unsigned char)with;
}

int main(int argc, char** argv) {
    static unsigned char first[512], second[512];
    int provided, n, bug = 0;
    MPI_Init(&argc, &argv);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_T_cvar_get_num(&n);
    for (int i = 0; i < n; ++i) {
        char name[256] = "";
        int length = sizeof name, verbosity, bind, scope, count;
        MPI_Datatype type;
        MPI_T_cvar_handle handle;
        if (MPI_T_cvar_get_info(i, name, &length, &verbosity, &type, NULL, NULL, NULL, &bind, &scope) != MPI_SUCCESS ||
            bind != MPI_T_BIND_NO_OBJECT || type == MPI_CHAR ||
            MPI_T_cvar_handle_alloc(i, NULL, &handle, &count) != MPI_SUCCESS || count != 1)
            continue;
        fill_stack(0x11);
        int const code = MPI_T_cvar_read(handle, first);
        fill_stack(0x22);
        if (code == MPI_SUCCESS && MPI_T_cvar_read(handle, second) == MPI_SUCCESS &&
            memcmp(first, second, sizeof first) != 0) {
            int a, b;
            memcpy(&a, first, sizeof a);
            memcpy(&b, second, sizeof b);
            printf("BUG: %s is 0x%x, and then 0x%x\n", name, a, b);
            bug = 1;
        }
        MPI_T_cvar_handle_free(&handle);
    }
    if (!bug) puts("OK");
    fflush(stdout);
    MPI_T_finalize();
    MPI_Finalize();
    return bug;
}
