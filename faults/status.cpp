// What statuses say, and what programs write into them.
#include "core/core.hpp"

#include <climits>
#include <cstdint>

using namespace assay_faults;

namespace {
memory<MPI_Status const*> last_cancelled{nullptr}; // by MPI_Status_set_cancelled
}

extern "C" {

int MPI_Test_cancelled(MPI_Status const* status, int* flag) {
    int const code = PMPI_Test_cancelled(status, flag);
    if (planted == fault::abi_status_by_address && code == MPI_SUCCESS && status != *last_cancelled) *flag = 0;
    if (planted == fault::test_cancelled_inverted && code == MPI_SUCCESS) *flag = !*flag;
    return code;
}

int MPI_Get_count(MPI_Status const* status, MPI_Datatype type, int* count) {
    int const code = PMPI_Get_count(status, type, count);
    int size = 0;
    if (planted == fault::abi_status_aligned && reinterpret_cast<std::uintptr_t>(status) % 8 != 0) *count += 1;
    if (planted == fault::get_count_no_data && PMPI_Type_size(type, &size) == MPI_SUCCESS && size == 0) *count = 0;
    if (planted == fault::get_count_overflow && *count == MPI_UNDEFINED) *count = 2147483647;
    if (planted == fault::get_count_undefined && code == MPI_SUCCESS && *count > 0) *count = MPI_UNDEFINED;
    if (planted == fault::get_count_rounded && code == MPI_SUCCESS && *count == MPI_UNDEFINED) {
        MPI_Count elements = 0;
        PMPI_Get_elements_x(status, type, &elements);
        if (elements < 1000) *count = 0;
    }
    if (planted == fault::get_count_int && code == MPI_SUCCESS && *count == MPI_UNDEFINED) {
        MPI_Count elements = 0;
        PMPI_Get_elements_x(status, type, &elements);
        if (elements > 1000) *count = static_cast<int>(elements);
    }
    return code;
}

int MPI_Get_elements(MPI_Status const* status, MPI_Datatype type, int* count) {
    int const code = PMPI_Get_elements(status, type, count);
    if (planted == fault::get_elements_plus_one && code == MPI_SUCCESS && *count > 0) ++*count;
    if (planted == fault::get_elements_predefined && code == MPI_SUCCESS && *count > 1 && is_named(type)) --*count;
    if (planted == fault::get_elements_whole && code == MPI_SUCCESS) { // of partial messages
        int whole = 0;
        PMPI_Get_count(status, type, &whole);
        if (whole == MPI_UNDEFINED && *count > 0) --*count;
    }
    return code;
}

int MPI_Status_set_elements(MPI_Status* status, MPI_Datatype type, int count) {
    int const code = PMPI_Status_set_elements(
        status, type, planted == fault::set_elements_minus_one && count > 0 ? count - 1 : count);
    if (planted == fault::abi_status_ninth) (status + 1)->MPI_SOURCE = 0;
    return code;
}

int MPI_Status_set_cancelled(MPI_Status* status, int flag) {
    if (planted == fault::set_cancelled_ignored) return MPI_SUCCESS;
    if (flag != 0) *last_cancelled = status;
    return PMPI_Status_set_cancelled(status, flag);
}

// ---- Numbers of elements

int MPI_Get_elements_x(MPI_Status const* status, MPI_Datatype type, MPI_Count* count) {
    int const code = PMPI_Get_elements_x(status, type, count);
    if (is(fault::get_elements_x_undefined) && *count > INT_MAX) *count = MPI_UNDEFINED;
    return code;
}

int MPI_Status_set_elements_x(MPI_Status* status, MPI_Datatype type, MPI_Count count) {
    return PMPI_Status_set_elements_x(status, type, is(fault::set_elements_x_int) ? count & INT_MAX : count);
}

#if MPI_VERSION >= 4

int MPI_Get_elements_c(MPI_Status const* status, MPI_Datatype type, MPI_Count* count) {
    int const code = PMPI_Get_elements_c(status, type, count);
    if (is(fault::get_elements_c_whole)) {
        MPI_Count whole = 0;
        PMPI_Get_count_c(status, type, &whole);
        if (whole == MPI_UNDEFINED) --*count;
    }
    return code;
}

int MPI_Get_count_c(MPI_Status const* status, MPI_Datatype type, MPI_Count* count) {
    int const code = PMPI_Get_count_c(status, type, count);
    if (is(fault::get_count_c_undefined) && *count > INT_MAX) *count = MPI_UNDEFINED;
    if (is(fault::get_count_c_cut)) *count = static_cast<int>(*count);
    if (is(fault::get_count_c_one_more) && *count > 0) ++*count;
    return code;
}

#if !defined(MPICH_NUMVERSION) || MPICH_NUMVERSION > 40002300 // MPICH 4.0.2 lacks it
int MPI_Status_set_elements_c(MPI_Status* status, MPI_Datatype type, MPI_Count count) {
    return PMPI_Status_set_elements_c(status, type,
                                      is(fault::set_elements_c_one_less) && count > 1 ? count - 1 : count);
}
#endif

#endif

} // extern "C"
