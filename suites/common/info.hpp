// What is in an info object (MPI-5.0 chapter 10), read in the form that every version of MPI has.
#pragma once
#include "framework/mpi/run.hpp"

#include <mpi.h>
#include <optional>
#include <string>
#include <vector>

namespace assay {

// All keys, by number. What is wrong with them is a finding.
std::vector<std::string> keys_of(test_run& mpi, MPI_Info info);
// The value of a key, of at most MPI_MAX_INFO_VAL characters; without one: not there.
std::optional<std::string> value_of(test_run& mpi, MPI_Info info, char const* key);

} // namespace assay
