# Writes generated/mpi_calls.hpp: for each procedure that the library's header declares, a macro of its name that notes
# the call before making it. So the event log can name the last MPI procedure of a rank that died or hangs, and tools that
# interpose MPI_* symbols (PMPI layers, our own faults) still see every call.
# The header as the preprocessor leaves it for this library, with its macros: MPICH has the declarations of two ABIs in one
# header, and some in headers that it includes.
set(flags ${MPI_C_COMPILE_OPTIONS})
foreach(dir IN LISTS MPI_C_INCLUDE_DIRS)
  list(APPEND flags -I${dir})
endforeach()
foreach(macro IN LISTS MPI_C_COMPILE_DEFINITIONS)
  list(APPEND flags -D${macro})
endforeach()
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/mpi_header.c CONTENT "#include <mpi.h>\n")
execute_process(COMMAND ${CMAKE_C_COMPILER} ${flags} -E -dD -P ${CMAKE_BINARY_DIR}/generated/mpi_header.c
                OUTPUT_VARIABLE ASSAY_MPI_DECLARATIONS COMMAND_ERROR_IS_FATAL ANY)
# Those that return a code, and the conversions of handles. Others, such as MPI_Wtime and MPI_Aint_add, are called as they are.
set(handle "MPI_(Comm|Datatype|Errhandler|File|Group|Info|Message|Op|Request|Session|Win)")
string(REGEX MATCHALL "[^A-Za-z0-9_](int|MPI_Fint|${handle})[ \t\n]+MPI_[A-Z][A-Za-z0-9_]*[ \t]*\\(" found "${ASSAY_MPI_DECLARATIONS}")
list(TRANSFORM found REPLACE "^.*[ \t\n](MPI_[A-Za-z0-9_]+)[ \t]*\\($" "\\1")
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
# What is declared need not be there: MPICH built without Fortran declares MPI_Type_create_f90_real and does not define it.
list(TRANSFORM found REPLACE "(.+)" "(void(*)(void))\\1," OUTPUT_VARIABLE addresses)
list(JOIN addresses "\n" addresses)
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/mpi_defined.c @ONLY
     CONTENT "#include <mpi.h>\nvoid (*volatile all[])(void) = {${addresses}0};\nint main(void) { return !all[0]; }\n")
try_compile(all_defined ${CMAKE_BINARY_DIR}/generated/mpi_defined ${CMAKE_BINARY_DIR}/generated/mpi_defined.c
            LINK_LIBRARIES MPI::MPI_C OUTPUT_VARIABLE said)
if(NOT all_defined)
  string(REGEX MATCHALL "undefined (reference to|symbol:)[^\n]*" undefined "${said}")
  list(TRANSFORM undefined REPLACE "[^\n]*[^A-Za-z0-9_](MPI_[A-Za-z0-9_]+)[^\n]*" "\\1")
  if(undefined)
    list(REMOVE_DUPLICATES undefined)
    list(REMOVE_ITEM found ${undefined})
    message(STATUS "declared in the MPI header but not in the library: ${undefined}")
  endif()
endif()
set(ASSAY_MPI_PROCEDURES ${found}) # oddities/ stands in front of each
list(LENGTH found count)
set(text "// Generated from the MPI header by cmake/mpi_calls.cmake: ${count} procedures.\n#pragma once\n#include \"framework/process/calls.hpp\"\n#include <mpi.h>\n")
foreach(name IN LISTS found)
  string(APPEND text "#define ${name}(...) (::assay::entering(\"${name}\"), ::assay::returned(${name}(__VA_ARGS__)))\n")
endforeach()

# What MPI-5.0 has and this header lacks: tests call it all the same. They say with needs_procedures what they need, so
# that such a call is compiled but never reached.
file(STRINGS ${CMAKE_CURRENT_LIST_DIR}/../standard/procedures.toml absent REGEX "^MPI_")
list(TRANSFORM absent REPLACE " =.*" "")
string(REGEX MATCHALL "[^A-Za-z0-9_](MPI_Aint|double)[ \t\n]+MPI_[A-Z][A-Za-z0-9_]*[ \t]*\\(" others "${ASSAY_MPI_DECLARATIONS}")
list(TRANSFORM others REPLACE ".*[ \t\n](MPI_[A-Za-z0-9_]+)[ \t]*\\($" "\\1")
list(REMOVE_ITEM absent ${found} ${macros} ${others})
string(APPEND text "namespace assay {\ninline constexpr char const* absent_procedures[] = {")
foreach(name IN LISTS absent)
  string(APPEND text "\n    \"${name}\",")
endforeach()
string(APPEND text "\n    nullptr};\n} // namespace assay\n")
# Macros have no name for profiling that the library could be asked for.
string(APPEND text "namespace assay {\ninline constexpr char const* macro_procedures[] = {")
foreach(name IN LISTS macros)
  string(APPEND text "\n    \"${name}\",")
endforeach()
string(APPEND text "\n    nullptr};\n} // namespace assay\n")
foreach(name IN LISTS absent)
  string(APPEND text "#define ${name}(...) (::assay::absent(\"${name}\", sizeof(::assay::unevaluated(__VA_ARGS__))))\n")
endforeach()
# Names of types and constants that come with them. No library gives an error class the values that stand here.
foreach(entry IN ITEMS "MPI_Session|typedef struct assay_absent_session* MPI_Session$<SEMICOLON>"
                       "MPI_SESSION_NULL|#define MPI_SESSION_NULL (static_cast<MPI_Session>(nullptr))"
                       "MPI_Session_errhandler_function|typedef void(MPI_Session_errhandler_function)(MPI_Session*, int*, ...)$<SEMICOLON>"
                       "MPI_User_function_c|typedef void(MPI_User_function_c)(void*, void*, MPI_Count*, MPI_Datatype*)$<SEMICOLON>"
                       "MPI_Datarep_conversion_function_c|typedef int(MPI_Datarep_conversion_function_c)(void*, MPI_Datatype, MPI_Count, void*, MPI_Offset, void*)$<SEMICOLON>"
                       "MPI_CONVERSION_FN_NULL_C|#define MPI_CONVERSION_FN_NULL_C (static_cast<MPI_Datarep_conversion_function_c*>(nullptr))"
                       "MPI_BUFFER_AUTOMATIC|#define MPI_BUFFER_AUTOMATIC (static_cast<void*>(nullptr))"
                       "MPI_ERRORS_ABORT|#define MPI_ERRORS_ABORT MPI_ERRHANDLER_NULL"
                       "MPI_COMBINER_VALUE_INDEX|#define MPI_COMBINER_VALUE_INDEX (-31401)"
                       "MPI_COMM_TYPE_HW_GUIDED|#define MPI_COMM_TYPE_HW_GUIDED (-31402)"
                       "MPI_COMM_TYPE_HW_UNGUIDED|#define MPI_COMM_TYPE_HW_UNGUIDED (-31403)"
                       "MPI_COMM_TYPE_RESOURCE_GUIDED|#define MPI_COMM_TYPE_RESOURCE_GUIDED (-31404)"
                       "MPI_ERR_SESSION|#define MPI_ERR_SESSION (-31405)"
                       "MPI_ERR_PROC_ABORTED|#define MPI_ERR_PROC_ABORTED (-31406)"
                       "MPI_ERR_VALUE_TOO_LARGE|#define MPI_ERR_VALUE_TOO_LARGE (-31407)"
                       "MPI_ERR_ERRHANDLER|#define MPI_ERR_ERRHANDLER (-31408)"
                       "MPI_ERR_ABI|#define MPI_ERR_ABI (-31409)"
                       "MPI_Fint|typedef int MPI_Fint$<SEMICOLON>"
                       "MPI_F08_status|struct MPI_F08_status { MPI_Fint MPI_SOURCE, MPI_TAG, MPI_ERROR$<SEMICOLON> }$<SEMICOLON>"
                       "MPI_F_STATUS_SIZE|#define MPI_F_STATUS_SIZE static_cast<int>(sizeof(MPI_Status) / sizeof(MPI_Fint))"
                       "MPI_F_STATUS_IGNORE|#define MPI_F_STATUS_IGNORE (static_cast<MPI_Fint*>(nullptr))"
                       "MPI_F_STATUSES_IGNORE|#define MPI_F_STATUSES_IGNORE (static_cast<MPI_Fint*>(nullptr))"
                       "MPI_F_SOURCE|#define MPI_F_SOURCE (-1)"
                       "MPI_F_TAG|#define MPI_F_TAG (-1)"
                       "MPI_F_ERROR|#define MPI_F_ERROR (-1)"
                       "MPI_T_event_registration|typedef struct assay_absent_registration* MPI_T_event_registration$<SEMICOLON>"
                       "MPI_T_event_instance|typedef struct assay_absent_instance* MPI_T_event_instance$<SEMICOLON>"
                       "MPI_T_cb_safety|typedef int MPI_T_cb_safety$<SEMICOLON>"
                       "MPI_T_CB_REQUIRE_NONE|#define MPI_T_CB_REQUIRE_NONE 0"
                       "MPI_T_CB_REQUIRE_MPI_RESTRICTED|#define MPI_T_CB_REQUIRE_MPI_RESTRICTED 1"
                       "MPI_T_CB_REQUIRE_THREAD_SAFE|#define MPI_T_CB_REQUIRE_THREAD_SAFE 2"
                       "MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE|#define MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE 3"
                       "MPI_T_source_order|typedef int MPI_T_source_order$<SEMICOLON>"
                       "MPI_T_SOURCE_ORDERED|#define MPI_T_SOURCE_ORDERED 0"
                       "MPI_T_SOURCE_UNORDERED|#define MPI_T_SOURCE_UNORDERED 1"
                       "MPI_T_event_cb_function|typedef void(MPI_T_event_cb_function)(MPI_T_event_instance, MPI_T_event_registration, MPI_T_cb_safety, void*)$<SEMICOLON>"
                       "MPI_T_event_free_cb_function|typedef void(MPI_T_event_free_cb_function)(MPI_T_event_registration, MPI_T_cb_safety, void*)$<SEMICOLON>"
                       "MPI_T_event_dropped_cb_function|typedef void(MPI_T_event_dropped_cb_function)(MPI_Count, MPI_T_event_registration, int, MPI_T_cb_safety, void*)$<SEMICOLON>"
                       "MPI_T_BIND_MPI_SESSION|#define MPI_T_BIND_MPI_SESSION (-31410)"
                       "MPI_T_ERR_NOT_SUPPORTED|#define MPI_T_ERR_NOT_SUPPORTED (-31411)"
                       "MPI_T_ERR_NOT_ACCESSIBLE|#define MPI_T_ERR_NOT_ACCESSIBLE (-31412)"
                       "MPI_MAX_PSET_NAME_LEN|#define MPI_MAX_PSET_NAME_LEN 1024"
                       "MPI_MAX_STRINGTAG_LEN|#define MPI_MAX_STRINGTAG_LEN 1024")
  string(REGEX MATCH "^([^|]+)[|](.*)$" ignored "${entry}")
  set(name ${CMAKE_MATCH_1})
  string(REPLACE "$<SEMICOLON>" ";" definition "${CMAKE_MATCH_2}")
  if(NOT ASSAY_MPI_DECLARATIONS MATCHES "[^A-Za-z0-9_]${name}[^A-Za-z0-9_]")
    string(APPEND text "${definition}\n")
  endif()
endforeach()
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/mpi_calls.hpp CONTENT "${text}" @ONLY)
