# assay_transport(NAME SOURCES FILE… [LIBRARIES TARGET…] [VARIANTS SWITCHES…] [RAW_LIBRARIES TARGET…])
#
# Called by NAME/CMakeLists.txt for the transport that NAME/transport.cpp describes (net/transport.hpp). It makes
#   wire-NAME         an object library of the wire, which knows neither libfabric nor MPI
#   assay_NAME        the libfabric provider libassay_NAME-fi.so: the core over it
#   assay-bench-NAME  where there is NAME/raw.cpp: the bare protocol, for `assay bench transports` (RAW_LIBRARIES: what it needs)
# and registers it for tests/cpp/transports, where each of VARIANTS (streams=4, cork+nodelay=0) is tested beside the default.
# The runner learns from NAME/transport.toml which switches there are and what the transport is measured beside.
function(assay_transport name)
  cmake_parse_arguments(PARSE_ARGV 1 its "" "" "SOURCES;LIBRARIES;VARIANTS;RAW_LIBRARIES")
  add_library(wire-${name} OBJECT transport.cpp ${its_SOURCES})
  target_link_libraries(wire-${name} PUBLIC net ${its_LIBRARIES})

  add_library(assay_${name} MODULE ${ASSAY_ROOT}/transports/provider.cpp)
  target_compile_definitions(assay_${name} PRIVATE ASSAY_TRANSPORT=${name})
  # A program loads its own libfabric; the one that is linked here is only a name (libfabric.so.1) that is there already. net is
  # named because the objects of an object library are not passed on by another.
  target_link_libraries(assay_${name} PRIVATE transport-core net wire-${name} ${FABRIC_LIBRARY} Threads::Threads)
  set_target_properties(assay_${name} PROPERTIES OUTPUT_NAME assay_${name}-fi LIBRARY_OUTPUT_DIRECTORY ${ASSAY_TRANSPORTS})

  if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/raw.cpp)
    add_executable(assay-bench-${name} raw.cpp)
    target_include_directories(assay-bench-${name} PRIVATE ${ASSAY_ROOT})
    target_link_libraries(assay-bench-${name} PRIVATE ${its_RAW_LIBRARIES})
    set_target_properties(assay-bench-${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${ASSAY_TRANSPORTS})
  endif()

  set_property(GLOBAL APPEND PROPERTY ASSAY_TRANSPORT_NAMES ${name})
  set_property(GLOBAL PROPERTY ASSAY_VARIANTS_OF_${name} "${its_VARIANTS}")
endfunction()

# Writes the table of all transports and their variants, as net::transports() (net/transport.hpp).
function(assay_transport_table file)
  get_property(names GLOBAL PROPERTY ASSAY_TRANSPORT_NAMES)
  set(declared "")
  set(listed "")
  foreach(name IN LISTS names)
    string(APPEND declared "namespace assay::${name} { extern net::transport const transport; }\n")
    get_property(variants GLOBAL PROPERTY ASSAY_VARIANTS_OF_${name})
    foreach(switches IN ITEMS "" LISTS variants)
      string(APPEND listed "    {&assay::${name}::transport, \"${switches}\"},\n")
    endforeach()
  endforeach()
  file(CONFIGURE OUTPUT ${file} CONTENT [[
// Made by transports/transport.cmake.
#include "transports/net/transport.hpp"

@declared@
namespace assay::net {
std::vector<variant> const& transports() {
    static std::vector<variant> const all{
@listed@    };
    return all;
}
} // namespace assay::net
]] @ONLY)
endfunction()
