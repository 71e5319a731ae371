// What the tests of the environment share.
#pragma once
#include "framework/mpi/own_job.hpp"
#include "framework/mpi/run.hpp"

#include <unistd.h>

namespace assay::env {

// Leaves the body where the library implements an older version of the standard, in which something else held.
void since(test_run& mpi, int version); // 41 is 4.1

} // namespace assay::env
