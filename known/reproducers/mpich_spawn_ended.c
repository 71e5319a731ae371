/* A spawned process that disconnects and ends at once: MPI_Comm_spawn fails on parents that have not yet met it.
 *
 * build: mpicc mpich_spawn_ended.c -o ended       run: mpiexec -n 4 ./ended
 * MPI-5.0 sections 11.8.2, 11.10.4: MPI_Comm_spawn is collective and returns a communicator with the child to all parents;
 *   after MPI_Comm_disconnect, which is collective, too, the child may end.
 * expected: OK.
 * observed: on parents other than the root, now and then: "Endpoint timeout", after UCX's "open(/proc/PID/fd/N) failed"
 *   (MPICH 5.0.2 over UCX: the root answers the child before the others have mapped its shared memory).
 */
// run: np=4 timeout=120 by=timing
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char** argv) {
    MPI_Comm parent, child;
    int rank = 0, failed = 0, worst = 0, kind = MPI_SUCCESS;
    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (parent == MPI_COMM_NULL) {
        char self[4096] = "", libraries[8192] = "";
        // The launcher may not know where the ranks find their library: env(1) tells the child.
        snprintf(libraries, sizeof libraries, "LD_LIBRARY_PATH=%s",
                 getenv("LD_LIBRARY_PATH") ? getenv("LD_LIBRARY_PATH") : "");
        if (readlink("/proc/self/exe", self, sizeof self - 1) < 0) return 2;
        char* words[] = {libraries, self, NULL};
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        int const cannot = getenv("I_MPI_ROOT") && !getenv("I_MPI_SPAWN"); // Intel MPI ends the job then
        for (int round = 0; round < 20 && !worst && !cannot; ++round) {
            int const error =
                MPI_Comm_spawn("/usr/bin/env", words, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &child, MPI_ERRCODES_IGNORE);
            MPI_Error_class(error, &kind);
            failed = error != MPI_SUCCESS; // 2: nothing can be started, or no more
            if (failed && rank == 0 && (round == 0 || kind == MPI_ERR_SPAWN)) failed = 2;
            if (!failed) MPI_Comm_disconnect(&child);
            MPI_Allreduce(&failed, &worst, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        }
        if (rank == 0)
            puts(cannot || worst == 2 ? "N/A: no process can be spawned here"
                 : worst              ? "BUG: MPI_Comm_spawn fails on a parent that is not the root"
                                      : "OK: all parents met all children");
    } else {
        MPI_Comm_disconnect(&parent);
    }
    MPI_Finalize();
    return worst == 1;
}
