// The MPI library that this program is linked with, as the subject of the tests.
#pragma once
#include "framework/plan/profile.hpp"
#include "framework/plan/subject.hpp"

namespace assay {

subject const& mpi_library();

// Parts of it (profiles.cpp).
bool mpi_library_has(char const* procedure);
std::vector<profile> const& profiles_of_mpi();
std::vector<standard_procedure> const& procedures_of_mpi();

} // namespace assay
