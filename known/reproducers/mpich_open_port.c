// MPI_Open_port: the address of the library does not fit into MPI_MAX_PORT_NAME characters.
// build: mpicc mpich_open_port.c -o open_port
// run: np=1 timeout=20
// clause: MPI-5.0 section 11.9.2: MPI_Open_port establishes a network address, encoded in port_name; the maximum size of the
//         string that may be supplied by the system is MPI_MAX_PORT_NAME.
// expected: MPI_SUCCESS and a port name.
// observed: MPICH 4.3.2 with UCX: MPI_ERR_OTHER, "no space for port_name tag"; MPI_MAX_PORT_NAME is 256 there.
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    char name[MPI_MAX_PORT_NAME] = "", text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    int const code = MPI_Open_port(MPI_INFO_NULL, name);
    if (code == MPI_SUCCESS) {
        printf("OK: a port name of MPI_MAX_PORT_NAME = %d characters at most\n", MPI_MAX_PORT_NAME);
        MPI_Close_port(name);
    } else {
        MPI_Error_string(code, text, &length);
        printf("BUG: MPI_Open_port with MPI_MAX_PORT_NAME = %d: %s\n", MPI_MAX_PORT_NAME, text);
    }
    MPI_Finalize();
    return code != MPI_SUCCESS;
}
