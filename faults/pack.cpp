// Packing: into the library's own form, and into external32.
#include "core/core.hpp"

#include <climits>
#include <cstddef>
#include <utility>

using namespace assay_faults;

extern "C" {

int MPI_Pack(void const* in, int count, MPI_Datatype type, void* out, int size, int* position, MPI_Comm comm) {
    int const start = *position;
    if (planted == fault::pack_odd_short && count > 1 && count % 2 != 0) --count;
    int const code = PMPI_Pack(in, count, type, out, size, position, comm);
    if (code != MPI_SUCCESS || *position == start) return code;
    if (planted == fault::pack_behind_size && start == 0) spoil(static_cast<char*>(out) + size);
    if (planted == fault::pack_last_byte) spoil(static_cast<char*>(out) + *position - 1);
    if (planted == fault::pack_position && *position < size) ++*position;
    return code;
}

int MPI_Unpack(void const* in, int size, int* position, void* out, int count, MPI_Datatype type, MPI_Comm comm) {
    if (planted != fault::unpack_position_ignored) return PMPI_Unpack(in, size, position, out, count, type, comm);
    int from = 0;
    int const code = PMPI_Unpack(in, size, &from, out, count, type, comm);
    *position += from;
    return code;
}

int MPI_Pack_size(int count, MPI_Datatype type, MPI_Comm comm, int* size) {
    int const code = PMPI_Pack_size(count, type, comm, size);
    if (is(fault::pack_size_short) && *size > 100) *size -= 1;
    if (is(fault::pack_size_most) && *size == MPI_UNDEFINED) *size = INT_MAX;
    return code;
}

int MPI_Pack_external_size(char const* how, int count, MPI_Datatype type, MPI_Aint* size) {
    int const code = PMPI_Pack_external_size(how, count, type, size);
    if (is(fault::external_size_of_memory) && type == MPI_LONG) {
        int each = 0;
        PMPI_Type_size(type, &each);
        *size = MPI_Aint{each} * count;
    }
    return code;
}

int MPI_Pack_external(char const* how, void const* in, int count, MPI_Datatype type, void* out, MPI_Aint size,
                      MPI_Aint* position) {
    MPI_Aint const start = *position;
    int const code = PMPI_Pack_external(how, in, count, type, out, size, position);
    if (code != MPI_SUCCESS) return code;
    auto* const begin = static_cast<unsigned char*>(out) + start;
    auto* const end = static_cast<unsigned char*>(out) + *position;
    if (is(fault::external_little_endian) && (type == MPI_SHORT || type == MPI_WCHAR))
        for (auto* at = begin; at + 1 < end; at += 2) std::swap(at[0], at[1]);
    if (is(fault::external_long_double) && type == MPI_LONG_DOUBLE && end > begin) end[-9] ^= 1;
    if (is(fault::external_position_aligned)) *position = (*position + 3) / 4 * 4;
    return code;
}

int MPI_Unpack_external(char const* how, void const* in, MPI_Aint size, MPI_Aint* position, void* out, int count,
                        MPI_Datatype type) {
    MPI_Aint const start = *position;
    int const code = PMPI_Unpack_external(how, in, size, position, out, count, type);
    if (is(fault::external_unpack_last) && code == MPI_SUCCESS && count > 1 && is_named(type)) {
        int element = 0;
        PMPI_Type_size(type, &element);
        spoil(static_cast<char*>(out) + std::ptrdiff_t{element} * count - element);
    }
    if (is(fault::external_unpack_position)) *position = start;
    return code;
}

#if MPI_VERSION >= 4

int MPI_Pack_size_c(MPI_Count count, MPI_Datatype type, MPI_Comm comm, MPI_Count* size) {
    int const code = PMPI_Pack_size_c(count, type, comm, size);
    if (is(fault::pack_size_c_int)) *size = static_cast<int>(*size);
    return code;
}

int MPI_Pack_c(void const* in, MPI_Count count, MPI_Datatype type, void* out, MPI_Count size, MPI_Count* position,
               MPI_Comm comm) {
    if (is(fault::pack_c_restarts) && *position > 0) {
        MPI_Count from = 0;
        int const code = PMPI_Pack_c(in, count, type, out, size, &from, comm);
        *position += from;
        return code;
    }
    return PMPI_Pack_c(in, count, type, out, size, position, comm);
}

int MPI_Unpack_c(void const* in, MPI_Count size, MPI_Count* position, void* out, MPI_Count count, MPI_Datatype type,
                 MPI_Comm comm) {
    int const code = PMPI_Unpack_c(in, size, position, out, count, type, comm);
    if (is(fault::unpack_c_position) && *position > 0) --*position;
    return code;
}

int MPI_Pack_external_size_c(char const* how, MPI_Count count, MPI_Datatype type, MPI_Count* size) {
    int const code = PMPI_Pack_external_size_c(how, count, type, size);
    if (is(fault::external_size_c_one)) ++*size;
    return code;
}

int MPI_Pack_external_c(char const* how, void const* in, MPI_Count count, MPI_Datatype type, void* out, MPI_Count size,
                        MPI_Count* position) {
    MPI_Count const start = *position;
    int const code = PMPI_Pack_external_c(how, in, count, type, out, size, position);
    if (is(fault::external_c_first_byte) && code == MPI_SUCCESS && *position > start)
        spoil(static_cast<char*>(out) + start);
    return code;
}

int MPI_Unpack_external_c(char const* how, void const* in, MPI_Count size, MPI_Count* position, void* out,
                          MPI_Count count, MPI_Datatype type) {
    if (is(fault::external_unpack_c_less) && count > 0) --count;
    return PMPI_Unpack_external_c(how, in, size, position, out, count, type);
}

#endif

} // extern "C"
