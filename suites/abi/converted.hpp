// Second handles to objects: converted to an integer and back, as for another language.
#pragma once
#include "framework/mpi/run.hpp"

namespace assay::abi {

enum class route { integer, fortran };
axis<route> const& routes(); // asks for the procedures of comm, datatype, info and win

MPI_Comm converted(route by, MPI_Comm handle);
MPI_Datatype converted_type(route by, MPI_Datatype handle);
MPI_Info converted_info(route by, MPI_Info handle);
MPI_Win converted_win(route by, MPI_Win handle);

} // namespace assay::abi
