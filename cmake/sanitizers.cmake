# ASSAY_SANITIZE: a list for -fsanitize, for example "address,undefined" or "thread". ASSAY_COVERAGE: gcov counters.
# The MPI library itself is not instrumented, which is why leaks and what happens inside of it are not our findings.
set(ASSAY_SANITIZE "" CACHE STRING "Sanitizers to build with, for example address,undefined")
option(ASSAY_COVERAGE "Count which lines run (gcov)" OFF)

if(ASSAY_SANITIZE)
  add_compile_options(-fsanitize=${ASSAY_SANITIZE} -fno-sanitize-recover=undefined)
  add_link_options(-fsanitize=${ASSAY_SANITIZE})
endif()
if(ASSAY_COVERAGE)
  add_compile_options(--coverage)
  add_link_options(--coverage)
endif()
