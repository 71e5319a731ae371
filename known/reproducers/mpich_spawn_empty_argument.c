// A process spawned with an empty argument: MPICH's mpiexec ends the job.
// build: mpicc mpich_spawn_empty_argument.c -o spawn_empty_argument
// run: np=1 timeout=30
// clause: MPI-5.0 section 11.8.2: argv is an array of strings, which arrive as the arguments of the program; "" is a string.
// expected: the child gets the arguments "before", "" and "after".
// observed: MPICH 4.3.2 and 5.0.2: mpiexec says "unable to parse PMI command" and ends all ranks.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char** argv) {
    MPI_Comm parent, child;
    int right = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    if (parent == MPI_COMM_NULL) {
        char self[4096] = "", libraries[8192] = "";
        // The launcher may not know where the ranks find their library: env(1) tells the child.
        snprintf(libraries, sizeof libraries, "LD_LIBRARY_PATH=%s",
                 getenv("LD_LIBRARY_PATH") ? getenv("LD_LIBRARY_PATH") : "");
        if (readlink("/proc/self/exe", self, sizeof self - 1) < 0) return 2;
        char* words[] = {libraries, self, "before", "", "after", NULL};
        MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
        int const cannot = getenv("I_MPI_ROOT") && !getenv("I_MPI_SPAWN"); // Intel MPI ends the job then
        if (cannot || MPI_Comm_spawn("/usr/bin/env", words, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &child,
                                     MPI_ERRCODES_IGNORE) != MPI_SUCCESS) {
            puts("N/A: no process can be spawned here");
            fflush(stdout);
            MPI_Abort(MPI_COMM_WORLD, 0);
        }
        MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
        MPI_Recv(&right, 1, MPI_INT, 0, 0, child, MPI_STATUS_IGNORE);
        MPI_Comm_disconnect(&child);
        printf("%s\n", right ? "OK: all arguments arrived" : "BUG: other arguments arrived");
    } else {
        right = argc == 4 && !strcmp(argv[1], "before") && !strcmp(argv[2], "") && !strcmp(argv[3], "after");
        MPI_Send(&right, 1, MPI_INT, 0, 0, parent);
        MPI_Comm_disconnect(&parent);
        right = 1;
    }
    MPI_Finalize();
    return right ? 0 : 1;
}
