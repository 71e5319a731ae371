# assay_preloaded(TARGET [FOLDERS]): a library of all *.cpp of the current folder, its core/ and FOLDERS, that is loaded before any MPI
# library and stands in front of its procedures.
function(assay_preloaded target)
  list(TRANSFORM ARGN APPEND /*.cpp)
  file(GLOB sources CONFIGURE_DEPENDS *.cpp core/*.cpp ${ARGN})
  add_library(${target} SHARED ${sources})
  target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_BINARY_DIR} ${CMAKE_SOURCE_DIR})
  target_link_libraries(${target} PRIVATE MPI::MPI_C)
  # Lazy binding: a library may lack procedures of newer versions of MPI that the shim stands in front of.
  target_link_options(${target} PRIVATE -Wl,-z,lazy)
  set_target_properties(${target} PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
endfunction()

# assay_catalogue(TARGET MACRO HEADER): what the library can do is described in the folder's *.toml; HEADER defines MACRO(F), which is
# F(name) for each `name = "…"` there, so that the sources cannot use a name that is not described.
function(assay_catalogue target macro header)
  file(GLOB catalogues CONFIGURE_DEPENDS *.toml)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${catalogues})
  set(entries "")
  foreach(catalogue ${catalogues})
    file(STRINGS ${catalogue} names REGEX "^name = \"[a-z0-9_]+\"$")
    list(TRANSFORM names REPLACE "^name = \"([a-z0-9_]+)\"$" " F(\\1)")
    list(JOIN names "" names)
    string(APPEND entries "${names}")
  endforeach()
  file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${header} @ONLY
       CONTENT "// Made from the *.toml of ${target}.\n#define ${macro}(F)${entries}\n")
endfunction()

# assay_parameters(NAME DECLARATIONS VARIABLE): the parameters that DECLARATIONS give the procedure NAME under its name for profiling,
# with single blanks; unset where the library does not have it under both of its names, and for MPI_Pcontrol, whose number is open.
function(assay_parameters name declarations variable)
  unset(${variable} PARENT_SCOPE)
  if("${declarations}" MATCHES "[ \t\n]P${name}[ \t\n]*\\(([^()]*)\\)")
    string(REGEX REPLACE "[ \t\n]+" " " parameters "${CMAKE_MATCH_1}")
    if(parameters MATCHES "^ *(void)? *$")
      set(parameters "")
    endif()
    if(NOT parameters MATCHES "\\.\\.\\.")
      set(${variable} "${parameters}" PARENT_SCOPE)
    endif()
  endif()
endfunction()

# assay_procedures(VARIABLE): what this library declares, as the preprocessor leaves it of the header.
function(assay_procedures variable)
  file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/declarations.c CONTENT "#include <mpi.h>\n")
  execute_process(COMMAND ${MPI_C_COMPILER} -E -P ${CMAKE_CURRENT_BINARY_DIR}/declarations.c OUTPUT_VARIABLE declarations
                  COMMAND_ERROR_IS_FATAL ANY)
  set(${variable} "${declarations}" PARENT_SCOPE)
endfunction()
