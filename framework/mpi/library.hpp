// What the MPI library says of itself, and where it came from. The runner compares both with what --mpi named.
#pragma once
#include <string>

namespace assay {

// The first line of MPI_Get_library_version (MPI-5.0 section 9.1.1), asked by its profiling name: a preloaded layer may
// answer for a library that it is not.
std::string library_version();

// The file that the dynamic linker took MPI from, with all links resolved; "" if MPI is part of the program. Needs no MPI_Init.
std::string library_path();

} // namespace assay
