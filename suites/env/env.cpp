#include "suites/env/env.hpp"

#include <fmt/format.h>

namespace assay::env {

void since(test_run& mpi, int version) {
    int const is = followed_version();
    if (is < version)
        mpi.unsupported(fmt::format("holds since MPI {}.{}; this library is of MPI {}.{}", version / 10, version % 10,
                                    is / 10, is % 10));
}

} // namespace assay::env
