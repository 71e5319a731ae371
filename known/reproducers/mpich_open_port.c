// MPI_Open_port fails over UCX: it is not supported, or the address does not fit into MPI_MAX_PORT_NAME characters.
// build: mpicc mpich_open_port.c -o open_port
// run: np=1 timeout=20
// clause: MPI-5.0 section 11.9.2: MPI_Open_port establishes a network address, encoded in port_name; the maximum size of the
//         string that may be supplied by the system is MPI_MAX_PORT_NAME.
// expected: MPI_SUCCESS and a port name.
// observed: with UCX: MPI_ERR_OTHER, "currently not supported with ucx netmod" (MPICH 4.0.2), "no space for port_name tag"
//         (MPICH 4.3.2); MPI_MAX_PORT_NAME is 256 there.
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int told = MPI_SUCCESS;

static void note(MPI_Comm* comm, int* code, ...) {
    (void)comm;
    told = *code;
}

int main(int argc, char** argv) {
    char name[MPI_MAX_PORT_NAME] = "", text[MPI_MAX_ERROR_STRING] = "";
    char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0, broken = 0;
    MPI_Errhandler noting;
    MPI_Init(&argc, &argv);
    MPI_Comm_create_errhandler(note, &noting);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, noting);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, noting);
    MPI_Open_port(MPI_INFO_NULL, name);
    if (told == MPI_SUCCESS) {
        printf("OK: a port name of MPI_MAX_PORT_NAME = %d characters at most\n", MPI_MAX_PORT_NAME);
        MPI_Close_port(name);
    } else {
        MPI_Error_string(told, text, &length);
        MPI_Get_library_version(version, &length);
        broken = strstr(version, "Intel") == NULL; /* which has ports only with I_MPI_SPAWN=on */
        printf("%s: MPI_Open_port with MPI_MAX_PORT_NAME = %d: %s\n", broken ? "BUG" : "N/A", MPI_MAX_PORT_NAME, text);
    }
    MPI_Errhandler_free(&noting);
    MPI_Finalize();
    return broken;
}
