// MPI_Comm_disconnect of a communicator made by MPI_Intercomm_merge of parents and children does not return.
// build: mpicc openmpi_disconnect_merged.c -o disconnect_merged
// run: np=1 timeout=20
// clause: MPI-5.0 section 11.10.4: MPI_Comm_disconnect waits for pending communication, of which there is none here; it may be
//         called with every communicator but MPI_COMM_WORLD and MPI_COMM_SELF.
// expected: it returns on both sides.
// observed: Open MPI 5.0.11: both sides sit in MPI_Comm_disconnect for ever (in PMIx_Fence). With MPI_Comm_free it is right.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char** argv) {
    MPI_Comm parent, link, merged;
    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    if (parent == MPI_COMM_NULL) {
        char self[4096] = "", libraries[8192] = "";
        char const* const path = getenv("LD_LIBRARY_PATH");
        snprintf(libraries, sizeof libraries, "LD_LIBRARY_PATH=%s", path ? path : "");
        if (readlink("/proc/self/exe", self, sizeof self - 1) < 0) return 2;
        char* words[] = {libraries, self, NULL};
        MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
        int const cannot = getenv("I_MPI_ROOT") && !getenv("I_MPI_SPAWN"); // Intel MPI ends the job then
        if (cannot || MPI_Comm_spawn("/usr/bin/env", words, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &link,
                                     MPI_ERRCODES_IGNORE) != MPI_SUCCESS) {
            puts("N/A: no process can be spawned here");
            fflush(stdout);
            MPI_Abort(MPI_COMM_WORLD, 0);
        }
        MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    } else {
        link = parent;
    }
    MPI_Intercomm_merge(link, parent != MPI_COMM_NULL, &merged);
    MPI_Comm_disconnect(&merged);
    MPI_Comm_disconnect(&link);
    if (parent == MPI_COMM_NULL) printf("OK: disconnected\n");
    MPI_Finalize();
    return 0;
}
