// MPI_Comm_spawn: the error codes are set on the root only, unless the other ranks happen to pass maxprocs as well.
// build: mpicc openmpi_spawn_errcodes.c -o spawn_errcodes
// run: np=2 timeout=30
// clause: MPI-5.0 section 11.8.2: maxprocs is significant only at root; array_of_errcodes, an output of every rank, is filled in
//         with MPI_SUCCESS when all processes were spawned.
// expected: MPI_SUCCESS on both ranks.
// observed: Open MPI 4.1.8 and 5.0.11: rank 1, which passes -1 as maxprocs, finds what it had put there before.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char** argv) {
    MPI_Comm parent, link;
    int rank, code = -77;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        MPI_Comm_disconnect(&parent);
        MPI_Finalize();
        return 0;
    }
    char self[4096] = "", libraries[8192] = "";
    char const* const path = getenv("LD_LIBRARY_PATH");
    snprintf(libraries, sizeof libraries, "LD_LIBRARY_PATH=%s", path ? path : "");
    if (readlink("/proc/self/exe", self, sizeof self - 1) < 0) return 2;
    char* words[] = {libraries, self, NULL};
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int const cannot = getenv("I_MPI_ROOT") && !getenv("I_MPI_SPAWN"); // Intel MPI ends the job then
    if (cannot || MPI_Comm_spawn("/usr/bin/env", words, rank == 0 ? 1 : -1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &link,
                                 &code) != MPI_SUCCESS) {
        puts("N/A: no process can be spawned here");
        fflush(stdout);
        MPI_Abort(MPI_COMM_WORLD, 0);
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    if (rank == 1) printf("%s: error code %d on rank 1\n", code == MPI_SUCCESS ? "OK" : "BUG", code);
    fflush(stdout);
    MPI_Comm_disconnect(&link);
    MPI_Finalize();
    return rank == 1 && code != MPI_SUCCESS;
}
