# Writes generated/mpi_calls.hpp: for each procedure that the library's header declares, a macro of its name that notes
# the call before making it. So the event log can name the last MPI procedure of a rank that died or hangs, and tools that
# interpose MPI_* symbols (PMPI layers, our own faults) still see every call.
foreach(dir IN LISTS MPI_C_INCLUDE_DIRS)
  foreach(name mpi.h mpi_abi.h mpi_proto.h)
    if(EXISTS ${dir}/${name})
      file(READ ${dir}/${name} text)
      string(APPEND ASSAY_MPI_DECLARATIONS "\n${text}")
    endif()
  endforeach()
endforeach()
# What stands before `int`: MPI_Aint_add and MPI_Aint_diff return an MPI_Aint, which must not pass through an int.
string(REGEX MATCHALL "[^A-Za-z0-9_]int[ \t\n]+MPI_[A-Z][A-Za-z0-9_]*[ \t]*\\(" found "${ASSAY_MPI_DECLARATIONS}")
list(TRANSFORM found REPLACE "^.int[ \t\n]+(MPI_[A-Za-z0-9_]+).*" "\\1")
list(FILTER found EXCLUDE REGEX "^MPI_[A-Z0-9_]+$") # MPI_DUP_FN and the like are constants
# Conversions such as MPI_Type_c2f are macros of some libraries already.
string(REGEX MATCHALL "#[ \t]*define[ \t]+MPI_[A-Za-z0-9_]+\\(" macros "${ASSAY_MPI_DECLARATIONS}")
list(TRANSFORM macros REPLACE ".*(MPI_[A-Za-z0-9_]+).*" "\\1")
if(macros)
  list(REMOVE_ITEM found ${macros})
endif()
list(REMOVE_DUPLICATES found)
list(SORT found)
list(LENGTH found count)
if(count LESS 300)
  message(FATAL_ERROR "only ${count} procedures found in the MPI header under ${MPI_C_INCLUDE_DIRS}: is this an mpi.h?")
endif()
set(text "// Generated from the MPI header by cmake/mpi_calls.cmake: ${count} procedures.\n#pragma once\n#include \"framework/calls.hpp\"\n")
foreach(name IN LISTS found)
  string(APPEND text "#define ${name}(...) (::assay::entering(\"${name}\"), ::assay::returned(${name}(__VA_ARGS__)))\n")
endforeach()
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/mpi_calls.hpp CONTENT "${text}" @ONLY)
