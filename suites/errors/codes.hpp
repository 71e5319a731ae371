// The error classes of MPI-5.0 (section 9.4, tables 7 and 8; section 20.2 for MPI_ERR_ABI).
#pragma once
#include <string>
#include <vector>

namespace assay::errors {

struct error_class {
    char const* name;
    int value;
};
std::vector<error_class> const& classes(); // those that the library's header has, with MPI_SUCCESS
std::string name_of(int error_class);      // "MPI_ERR_TAG"; the number if it has no name

} // namespace assay::errors
