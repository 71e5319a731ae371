# Writes generated/standard.inc from standard/*.toml: the requirements, which findings rest on (their sections and levels) and the
# profiles mpi-3.1 … mpi-5.0 (with which version of MPI they came), and the procedures of MPI.
include_guard(GLOBAL)
get_filename_component(ASSAY_ROOT ${CMAKE_CURRENT_LIST_DIR}/.. ABSOLUTE)
set(procedure_file ${ASSAY_ROOT}/standard/procedures.toml)
file(GLOB requirement_files CONFIGURE_DEPENDS ${ASSAY_ROOT}/standard/*.toml)
list(REMOVE_ITEM requirement_files ${procedure_file})
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${requirement_files} ${procedure_file})
foreach(file IN LISTS requirement_files)
  file(STRINGS ${file} lines REGEX "^(id|section|level|since|procedures) = ")
  foreach(line IN LISTS lines)
    string(REGEX REPLACE "[][\",]" "" words "${line}") # id = x, since = 4.0, procedures = MPI_A MPI_B
    string(REGEX REPLACE "^([a-z]+) = .*" "\\1" key "${words}")
    string(REGEX REPLACE "^[a-z]+ = " "" ${key} "${words}")
    if(key STREQUAL "level" AND level STREQUAL "erroneous") # MPI need not notice wrong use: what it says of it is advisory
      set(level advisory)
    endif()
    if(key STREQUAL "procedures") # the last of the five
      list(APPEND rows " \\\n    R(\"${id}\", \"${section}\", ${level}, \"${since}\", \" ${procedures} \")")
    endif()
  endforeach()
endforeach()
list(SORT rows) # by id: framework/check/ looks them up by halves
string(CONCAT text "// Generated from standard/*.toml by cmake/standard.cmake.\n#define ASSAY_REQUIREMENTS(R)" ${rows}
              "\n#define ASSAY_PROCEDURES(P)")
file(STRINGS ${procedure_file} lines REGEX "^MPI_")
foreach(line IN LISTS lines)
  string(REGEX REPLACE "^(MPI_[A-Za-z0-9_]+) = .*since = \"([0-9.]+)\".*$" " \\\\\n    P(\"\\1\", \"\\2\")" entry "${line}")
  string(APPEND text "${entry}")
endforeach()
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/standard.inc CONTENT "${text}\n" @ONLY)
