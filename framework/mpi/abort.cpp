#include "framework/process/signals.hpp"

#include <dlfcn.h>
#include <mpi.h>

#undef MPI_Abort // mpi_calls.hpp has a macro of that name, and here it is defined

// MPICH's mpiexec kills all ranks at once when one calls MPI_Abort, so that one has to say so before. Preloaded layers
// and the library come next.
extern "C" int MPI_Abort(MPI_Comm comm, int code) {
    assay::announce_exit(code);
    auto const next = reinterpret_cast<decltype(&MPI_Abort)>(dlsym(RTLD_NEXT, "MPI_Abort"));
    return next != nullptr ? next(comm, code) : PMPI_Abort(comm, code);
}
