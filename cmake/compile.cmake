# How everything is compiled: each project of the tree includes it when it is not part of another.
set(CMAKE_C_STANDARD 11)
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_C_COMPILER_LAUNCHER ${CCACHE})
  # What it does not cache otherwise: files that use precompiled headers (ccache(1), "Precompiled headers").
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE})
endif()
add_compile_options(-Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion -fno-omit-frame-pointer)

# ASSAY_SANITIZE: a list for -fsanitize, for example "address,undefined" or "thread". ASSAY_COVERAGE: gcov counters.
# The MPI library itself is not instrumented, which is why leaks and what happens inside of it are not our findings.
set(ASSAY_SANITIZE "" CACHE STRING "Sanitizers to build with, for example address,undefined")
option(ASSAY_COVERAGE "Count which lines run (gcov)" OFF)

if(ASSAY_SANITIZE)
  add_compile_options(-fsanitize=${ASSAY_SANITIZE} -fno-sanitize-recover=undefined)
  add_link_options(-fsanitize=${ASSAY_SANITIZE})
  add_compile_definitions(ASSAY_REQUIREMENTS_ARE_CHECKED) # framework/check/requirement.hpp
endif()
if(ASSAY_COVERAGE)
  add_compile_options(--coverage)
  add_link_options(--coverage)
endif()

# A build for each library is short where little is optimized but what looks at each byte of the data.
function(assay_short_build target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
endfunction()
