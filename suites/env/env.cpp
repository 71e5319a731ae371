#include "suites/env/env.hpp"

#include <fmt/format.h>
#include <utility>

#include "mpi_calls.hpp"

namespace assay::env {

void since(test_run& mpi, int version, int subversion) {
    int is = 0, is_sub = 0;
    MPI_Get_version(&is, &is_sub);
    if (std::pair(is, is_sub) < std::pair(version, subversion))
        mpi.unsupported(
            fmt::format("holds since MPI {}.{}; this library is of MPI {}.{}", version, subversion, is, is_sub));
}

} // namespace assay::env
