// Errors of MPI calls without whose result nothing can be done: they end the case.
#pragma once
#include "framework/check/body.hpp"

#include <mpi.h>
#include <source_location>
#include <string>

namespace assay {

// "MPI_ERR_TRUNCATE: Message truncated". The call that returned the code stays the last one.
std::string error_text(int code);

// A call returned an error, and nothing can be done without what it should have made.
struct mpi_failure : end_of_body {
    mpi_failure(char const* call, int code, std::source_location where);
};

// Throws mpi_failure unless the call, which is a literal, returned MPI_SUCCESS.
inline void must(int code, char const* call, std::source_location where = std::source_location::current()) {
    if (code != MPI_SUCCESS) throw mpi_failure(call, code, where);
}

} // namespace assay
