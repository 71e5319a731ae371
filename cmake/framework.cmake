# What the framework needs, with MPI or without.
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
