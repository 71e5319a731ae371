#include "framework/mpi/failure.hpp"

#include "framework/process/calls.hpp"
#include "framework/process/layer.hpp"

#include <fmt/format.h>

namespace assay {

std::string error_text(int code) {
    calls_of_the_framework const then_as_before;
    unrecorded const own;
    char text[MPI_MAX_ERROR_STRING + 1] = "";
    int length = 0;
    if (MPI_Error_string(code, text, &length) != MPI_SUCCESS) return fmt::format("error code {}", code);
    return text;
}

mpi_failure::mpi_failure(char const* call, int code, std::source_location where)
    : end_of_body(call, fmt::format("{} returned {}", call, error_text(code)), where) {}

} // namespace assay
