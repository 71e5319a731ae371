# What the programs of tests about frameworks under MPI are made of. Each is a project of its own, because it needs no MPI library,
# and because only runs of its suite need the framework: cmake -S suites/ofi -B build/release/ofi.
get_filename_component(ASSAY_ROOT ${CMAKE_CURRENT_LIST_DIR}/../.. ABSOLUTE)
if(PROJECT_IS_TOP_LEVEL)
  include(${ASSAY_ROOT}/cmake/compile.cmake)
endif()
include(${ASSAY_ROOT}/cmake/framework.cmake)

# assay-<suite> from the files of suites/<suite>, and libassay_<suite>_faults.so from faults/<suite>: preloaded, it plants the
# fault that ASSAY_FAULT names, as proof that each test can fail.
function(assay_native_program suite include libraries)
  file(GLOB sources CONFIGURE_DEPENDS ${ASSAY_ROOT}/framework/native/*.cpp ${ASSAY_ROOT}/suites/${suite}/*.cpp)
  add_executable(assay-${suite} ${sources})
  target_include_directories(assay-${suite} PRIVATE ${ASSAY_ROOT} ${CMAKE_BINARY_DIR}/generated)
  target_include_directories(assay-${suite} SYSTEM PRIVATE ${include})
  target_compile_definitions(assay-${suite} PRIVATE ASSAY_REQUIREMENTS_ARE_CHECKED)
  target_link_libraries(assay-${suite} PRIVATE framework-plain ${libraries})
  # For the suite only: its files include this by themselves, too (tests/python/test_layout.py).
  target_precompile_headers(assay-${suite} PRIVATE <framework/native/run.hpp>)
  file(GLOB framework CONFIGURE_DEPENDS ${ASSAY_ROOT}/framework/native/*.cpp)
  set_source_files_properties(${framework} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
  # Exported symbols: names in stacks.
  target_link_options(assay-${suite} PRIVATE -rdynamic)
  set_target_properties(assay-${suite} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})

  add_library(assay_${suite}_faults SHARED ${ASSAY_ROOT}/faults/${suite}/${suite}_faults.cpp)
  target_include_directories(assay_${suite}_faults SYSTEM PRIVATE ${include})
  target_link_libraries(assay_${suite}_faults PRIVATE ${libraries} ${CMAKE_DL_LIBS})
  set_target_properties(assay_${suite}_faults PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
endfunction()
