/* Processes that MPI_Comm_spawn_multiple starts have each other's ranks.
 *
 * build: mpicc mpich_spawn_multiple_order.c -o order       run: mpiexec -n 4 ./order
 * MPI-5.0 section 11.8.3: the processes of the first command have the first ranks in their MPI_COMM_WORLD, those of the second
 *   one the next.
 * expected: OK.
 * observed: now and then, while others spawn too, rank 0 has the second command's arguments, and rank 1 the first one's
 *   (MPICH 4.0.3: in one of about 200).
 */
// run: np=4 timeout=120 by=timing
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void too_long(int number) {
    static char const text[] = "N/A: spawning from several processes at once does not end here\n";
    (void)number;
    _exit(write(1, text, sizeof text - 1) < 0);
}

int main(int argc, char** argv) {
    MPI_Comm parent, children;
    int rank = 0, found[3] = {0, 0, 0}; // has another's rank, spawning does not work, a minute is over
    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (parent != MPI_COMM_NULL) {
        int const command = atoi(argv[1]);
        MPI_Send(&command, 1, MPI_INT, 0, 0, parent);
        MPI_Comm_disconnect(&parent);
        MPI_Finalize();
        return 0;
    }
    char self[4096] = "", libraries[8192] = "";
    // The launcher may not know where the ranks find their library: env(1) tells the children.
    snprintf(libraries, sizeof libraries, "LD_LIBRARY_PATH=%s",
             getenv("LD_LIBRARY_PATH") ? getenv("LD_LIBRARY_PATH") : "");
    if (readlink("/proc/self/exe", self, sizeof self - 1) < 0) return 2;
    char *first[] = {libraries, self, "0", NULL}, *second[] = {libraries, self, "1", NULL};
    char *commands[] = {"/usr/bin/env", "/usr/bin/env"}, **words[] = {first, second};
    int const each[] = {1, 1};
    MPI_Info const infos[] = {MPI_INFO_NULL, MPI_INFO_NULL};
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    int const cannot = getenv("I_MPI_ROOT") && !getenv("I_MPI_SPAWN"); // Intel MPI ends the job then
    signal(SIGALRM, too_long);
    alarm(90); // a round takes a moment, and none begins after a minute
    double const begin = MPI_Wtime();
    for (int round = 0; round < 100 && !cannot && !found[0] && !found[1] && !found[2]; ++round) {
        found[1] = MPI_Comm_spawn_multiple(2, commands, words, each, infos, 0, MPI_COMM_SELF, &children,
                                           MPI_ERRCODES_IGNORE) != MPI_SUCCESS;
        for (int k = 0; k < 2 && !found[1]; ++k) {
            int command;
            MPI_Recv(&command, 1, MPI_INT, k, 0, children, MPI_STATUS_IGNORE);
            found[0] += command != k;
        }
        if (!found[1]) MPI_Comm_disconnect(&children);
        found[2] = MPI_Wtime() - begin > 60;
        MPI_Allreduce(MPI_IN_PLACE, found, 3, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    }
    if (rank == 0)
        puts(found[0]             ? "BUG: spawned processes have each other's rank"
             : cannot || found[1] ? "N/A: no process can be spawned here"
                                  : "OK");
    MPI_Finalize();
    return found[0];
}
