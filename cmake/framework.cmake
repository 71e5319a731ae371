# What the framework needs, with MPI or without, and the part of it that knows no MPI.
include_guard(GLOBAL)
find_package(GTest REQUIRED)
find_package(fmt REQUIRED)
find_package(CLI11 REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(Threads REQUIRED)
find_path(UNWIND_INCLUDE libunwind.h REQUIRED)
find_library(UNWIND_LIBRARY unwind REQUIRED)
find_path(XXHASH_INCLUDE xxhash.h REQUIRED)
find_library(XXHASH_LIBRARY xxhash REQUIRED)

add_library(framework-needs INTERFACE)
target_include_directories(framework-needs SYSTEM INTERFACE ${UNWIND_INCLUDE} ${XXHASH_INCLUDE})
target_link_libraries(framework-needs INTERFACE GTest::gtest fmt::fmt CLI11::CLI11 nlohmann_json::nlohmann_json Threads::Threads
                                                ${UNWIND_LIBRARY} ${XXHASH_LIBRARY} ${CMAKE_DL_LIBS})

# The same for all libraries, so that a compiler's cache has it from the second one on.
get_filename_component(ASSAY_ROOT ${CMAKE_CURRENT_LIST_DIR}/.. ABSOLUTE)
file(GLOB FRAMEWORK_PLAIN CONFIGURE_DEPENDS ${ASSAY_ROOT}/framework/plan/*.cpp ${ASSAY_ROOT}/framework/check/*.cpp
     ${ASSAY_ROOT}/framework/process/*.cpp)
add_library(framework-plain OBJECT ${FRAMEWORK_PLAIN})
target_include_directories(framework-plain PUBLIC ${ASSAY_ROOT})
target_link_libraries(framework-plain PUBLIC framework-needs)

# Of this part only the table of requirements differs from build to build.
include(${ASSAY_ROOT}/cmake/standard.cmake) # writes standard.inc from standard/*.toml
set_source_files_properties(${ASSAY_ROOT}/framework/check/requirement.cpp PROPERTIES INCLUDE_DIRECTORIES
                                                                                     ${CMAKE_BINARY_DIR}/generated)

assay_short_build(framework-plain)
set_source_files_properties(
  ${ASSAY_ROOT}/framework/check/buffer.cpp ${ASSAY_ROOT}/framework/check/data.cpp ${ASSAY_ROOT}/framework/check/layout.cpp
  PROPERTIES COMPILE_OPTIONS $<$<CONFIG:Release>:-O3>)
