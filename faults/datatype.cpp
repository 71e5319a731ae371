// Datatypes: what their constructors make, what they say of themselves, their names; addresses.
#include "core/core.hpp"

#include <algorithm>
#include <climits>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

using namespace assay_faults;

namespace {

int cut(auto n) { return static_cast<int>(n); } // what is left of a large number in an int

// The datatype with other bounds: what was made is replaced.
int with_bounds(int code, MPI_Datatype* made, MPI_Aint lb, MPI_Aint extent) {
    if (code != MPI_SUCCESS) return code;
    MPI_Datatype const old = *made;
    int const again = PMPI_Type_create_resized(old, lb, extent, made);
    MPI_Datatype gone = old;
    PMPI_Type_free(&gone);
    return again;
}

bool moved(MPI_Datatype type) { // its lower bound is not 0
    MPI_Aint lb = 0, extent = 0;
    PMPI_Type_get_extent(type, &lb, &extent);
    return lb != 0;
}

memory<MPI_Datatype> freed_by_isendrecv(MPI_DATATYPE_NULL); // which the library no longer knows

// Blocks beyond the 32nd.
void lose_blocks(int& count) {
    if (is(fault::blocks_beyond_32)) count = std::min(count, 32);
}

} // namespace

void assay_faults::note_freed(MPI_Datatype type) { *freed_by_isendrecv = type; }

extern "C" {

// ---- Constructors

int MPI_Type_contiguous(int count, MPI_Datatype old, MPI_Datatype* made) {
    if (is(fault::contiguous_marked) && moved(old)) return PMPI_Type_vector(count, 1, 2, old, made);
    if (is(fault::contiguous_zero_is_one) && count == 0) count = 1;
    if (is(fault::contiguous_negative_taken) && count < 0) count = 0;
    if (is(fault::contiguous_three_derived) && count > 1 && count % 2 != 0 && !is_named(old)) --count;
    return PMPI_Type_contiguous(count, old, made);
}

int MPI_Type_vector(int count, int blocklength, int stride, MPI_Datatype old, MPI_Datatype* made) {
    if (is(fault::vector_null)) {
        *made = MPI_DATATYPE_NULL;
        return MPI_SUCCESS;
    }
    if (is(fault::vector_stride_positive) && stride < 0) stride = -stride;
    if (is(fault::vector_dense_overlap) && stride < blocklength && stride > 0) stride = blocklength;
    if (is(fault::vector_stride_overflow)) {
        MPI_Aint lb = 0, extent = 0;
        PMPI_Type_get_extent(old, &lb, &extent);
        return PMPI_Type_create_hvector(count, blocklength, cut(stride * extent), old, made);
    }
    return PMPI_Type_vector(count, blocklength, stride, old, made);
}

int MPI_Type_create_hvector(int count, int blocklength, MPI_Aint stride, MPI_Datatype old, MPI_Datatype* made) {
    if (is(fault::hvector_stride_int)) stride &= 0xffffffff;
    if (is(fault::hvector_stride_aligned)) stride = (stride + 7) / 8 * 8;
    return PMPI_Type_create_hvector(count, blocklength, stride, old, made);
}

int MPI_Type_indexed(int count, int const lengths[], int const displacements[], MPI_Datatype old, MPI_Datatype* made) {
    lose_blocks(count);
    if (is(fault::indexed_sorted) && count > 1 && !std::is_sorted(displacements, displacements + count)) {
        std::vector<int> order(static_cast<std::size_t>(count)), n, at;
        std::iota(order.begin(), order.end(), 0);
        std::sort(order.begin(), order.end(), [&](int a, int b) { return displacements[a] < displacements[b]; });
        for (int i : order) n.push_back(lengths[i]), at.push_back(displacements[i]);
        return PMPI_Type_indexed(count, n.data(), at.data(), old, made);
    }
    return PMPI_Type_indexed(count, lengths, displacements, old, made);
}

int MPI_Type_create_hindexed(int count, int const lengths[], MPI_Aint const displacements[], MPI_Datatype old,
                             MPI_Datatype* made) {
    lose_blocks(count);
    int const code = PMPI_Type_create_hindexed(count, lengths, displacements, old, made);
    if (is(fault::hindexed_empty_blocks_bound) && count > 0 &&
        std::find(lengths, lengths + count, 0) != lengths + count) {
        auto const [low, high] = std::minmax_element(displacements, displacements + count);
        return with_bounds(code, made, *low, *high - *low);
    }
    return code;
}

int MPI_Type_create_indexed_block(int count, int blocklength, int const displacements[], MPI_Datatype old,
                                  MPI_Datatype* made) {
    std::vector<int> at(displacements, displacements + count);
    if (is(fault::indexed_block_negative))
        for (auto& d : at) d = std::max(d, 0);
    return PMPI_Type_create_indexed_block(count, blocklength, at.data(), old, made);
}

int MPI_Type_create_hindexed_block(int count, int blocklength, MPI_Aint const displacements[], MPI_Datatype old,
                                   MPI_Datatype* made) {
    if (is(fault::hindexed_block_last_lost) && count > 2) --count;
    return PMPI_Type_create_hindexed_block(count, blocklength, displacements, old, made);
}

int MPI_Type_create_struct(int count, int const lengths[], MPI_Aint const displacements[], MPI_Datatype const types[],
                           MPI_Datatype* made) {
    lose_blocks(count);
    if (is(fault::struct_sorted) && count > 1 && displacements[0] > displacements[1]) {
        std::vector<int> n(lengths, lengths + count);
        std::vector<MPI_Aint> at(displacements, displacements + count);
        std::vector<MPI_Datatype> old(types, types + count);
        std::swap(n[0], n[1]), std::swap(at[0], at[1]), std::swap(old[0], old[1]);
        return PMPI_Type_create_struct(count, n.data(), at.data(), old.data(), made);
    }
    if (is(fault::struct_absolute_shifted) && count > 1 && displacements[0] > (MPI_Aint{1} << 32)) {
        // Every second one, of which the sender's is the first: nothing is written where it does not belong.
        static memory<int> calls;
        std::vector<MPI_Aint> at(displacements, displacements + count);
        if ((*calls)++ % 2 == 0) at[0] += 4;
        return PMPI_Type_create_struct(count, lengths, at.data(), types, made);
    }
    int const code = PMPI_Type_create_struct(count, lengths, displacements, types, made);
    if (is(fault::struct_not_rounded) && code == MPI_SUCCESS) {
        MPI_Aint lb = 0, extent = 0, true_lb = 0, true_extent = 0;
        PMPI_Type_get_extent(*made, &lb, &extent);
        PMPI_Type_get_true_extent(*made, &true_lb, &true_extent);
        if (lb == true_lb && extent > true_extent) return with_bounds(code, made, lb, true_extent);
    }
    return code;
}

int MPI_Type_create_resized(MPI_Datatype old, MPI_Aint lb, MPI_Aint extent, MPI_Datatype* made) {
    if (is(fault::resized_keeps_marker) && moved(old)) {
        MPI_Aint length = 0;
        PMPI_Type_get_extent(old, &lb, &length);
    }
    if (is(fault::resized_never_smaller)) {
        MPI_Aint true_lb = 0, true_extent = 0;
        PMPI_Type_get_true_extent(old, &true_lb, &true_extent);
        extent = std::max(extent, true_extent);
    }
    return PMPI_Type_create_resized(old, lb, extent, made);
}

int MPI_Type_create_darray(int size, int rank, int ndims, int const sizes[], int const distributions[],
                           int const arguments[], int const processes[], int order, MPI_Datatype old,
                           MPI_Datatype* made) {
    if (planted == fault::io_darray_order) order = order == MPI_ORDER_C ? MPI_ORDER_FORTRAN : MPI_ORDER_C;
    if (planted == fault::darray_grid_columns && ndims == 2 && order == MPI_ORDER_FORTRAN)
        rank = rank % processes[0] * processes[1] + rank / processes[0];
    std::vector<int> used(arguments, arguments + ndims);
    for (int d = 0; d < ndims; ++d)
        if (planted == fault::darray_default_cyclic && distributions[d] == MPI_DISTRIBUTE_CYCLIC &&
            used[static_cast<std::size_t>(d)] == MPI_DISTRIBUTE_DFLT_DARG)
            used[static_cast<std::size_t>(d)] = 2;
    arguments = used.data();
    return PMPI_Type_create_darray(size, rank, ndims, sizes, distributions, arguments, processes, order, old, made);
}

int MPI_Type_create_subarray(int ndims, int const sizes[], int const subsizes[], int const starts[], int order,
                             MPI_Datatype old, MPI_Datatype* made) {
    std::vector<int> const nowhere(static_cast<std::size_t>(ndims), 0);
    if (planted == fault::subarray_3d_order && ndims == 3) order = MPI_ORDER_C;
    if (planted == fault::subarray_bounds_of_part) {
        MPI_Datatype whole = MPI_DATATYPE_NULL;
        int const code = PMPI_Type_create_subarray(ndims, sizes, subsizes, starts, order, old, &whole);
        if (code != MPI_SUCCESS) return code;
        MPI_Aint lb = 0, extent = 0;
        PMPI_Type_get_true_extent(whole, &lb, &extent);
        PMPI_Type_create_resized(whole, lb, extent, made);
        return PMPI_Type_free(&whole);
    }
    return PMPI_Type_create_subarray(ndims, sizes, subsizes,
                                     planted == fault::io_subarray_start ? nowhere.data() : starts, order, old, made);
}

#if MPI_VERSION >= 4

int MPI_Type_contiguous_c(MPI_Count count, MPI_Datatype old, MPI_Datatype* made) {
    if (is(fault::contiguous_c_int) && count > INT_MAX) count &= INT_MAX;
    return PMPI_Type_contiguous_c(count, old, made);
}

int MPI_Type_vector_c(MPI_Count count, MPI_Count blocklength, MPI_Count stride, MPI_Datatype old, MPI_Datatype* made) {
    if (is(fault::vector_c_swapped)) std::swap(count, blocklength);
    if (is(fault::vector_c_stride_int)) stride = cut(stride);
    return PMPI_Type_vector_c(count, blocklength, stride, old, made);
}

int MPI_Type_create_hvector_c(MPI_Count count, MPI_Count blocklength, MPI_Count stride, MPI_Datatype old,
                              MPI_Datatype* made) {
    if (is(fault::hvector_c_stride_int)) stride = cut(stride);
    return PMPI_Type_create_hvector_c(count, blocklength, stride, old, made);
}

int MPI_Type_indexed_c(MPI_Count count, MPI_Count const lengths[], MPI_Count const displacements[], MPI_Datatype old,
                       MPI_Datatype* made) {
    std::vector<MPI_Count> at(displacements, displacements + count);
    if (is(fault::indexed_c_displacement_int))
        for (auto& d : at) d = cut(d);
    return PMPI_Type_indexed_c(count, lengths, at.data(), old, made);
}

int MPI_Type_create_hindexed_c(MPI_Count count, MPI_Count const lengths[], MPI_Count const displacements[],
                               MPI_Datatype old, MPI_Datatype* made) {
    std::vector<MPI_Count> n(lengths, lengths + count);
    if (is(fault::hindexed_c_length_int))
        for (auto& l : n) l &= INT_MAX;
    return PMPI_Type_create_hindexed_c(count, n.data(), displacements, old, made);
}

int MPI_Type_create_indexed_block_c(MPI_Count count, MPI_Count blocklength, MPI_Count const displacements[],
                                    MPI_Datatype old, MPI_Datatype* made) {
    if (is(fault::indexed_block_c_length_one)) blocklength = std::min<MPI_Count>(blocklength, 1);
    return PMPI_Type_create_indexed_block_c(count, blocklength, displacements, old, made);
}

int MPI_Type_create_hindexed_block_c(MPI_Count count, MPI_Count blocklength, MPI_Count const displacements[],
                                     MPI_Datatype old, MPI_Datatype* made) {
    std::vector<MPI_Count> at(displacements, displacements + count);
    if (is(fault::hindexed_block_c_displacement_int))
        for (auto& d : at) d = cut(d);
    return PMPI_Type_create_hindexed_block_c(count, blocklength, at.data(), old, made);
}

int MPI_Type_create_struct_c(MPI_Count count, MPI_Count const lengths[], MPI_Count const displacements[],
                             MPI_Datatype const types[], MPI_Datatype* made) {
    std::vector<MPI_Count> at(displacements, displacements + count);
    if (is(fault::struct_c_displacement_int))
        for (auto& d : at) d = cut(d);
    return PMPI_Type_create_struct_c(count, lengths, at.data(), types, made);
}

int MPI_Type_create_resized_c(MPI_Datatype old, MPI_Count lb, MPI_Count extent, MPI_Datatype* made) {
    if (is(fault::resized_c_lb_lost)) lb = 0;
    return PMPI_Type_create_resized_c(old, lb, extent, made);
}

int MPI_Type_create_subarray_c(int ndims, MPI_Count const sizes[], MPI_Count const subsizes[], MPI_Count const starts[],
                               int order, MPI_Datatype old, MPI_Datatype* made) {
    if (is(fault::subarray_c_order)) order = MPI_ORDER_C;
    return PMPI_Type_create_subarray_c(ndims, sizes, subsizes, starts, order, old, made);
}

int MPI_Type_create_darray_c(int size, int rank, int ndims, MPI_Count const sizes[], int const how[],
                             int const arguments[], int const processes[], int order, MPI_Datatype old,
                             MPI_Datatype* made) {
    if (is(fault::darray_c_rank_zero)) rank = 0;
    return PMPI_Type_create_darray_c(size, rank, ndims, sizes, how, arguments, processes, order, old, made);
}

#endif

// ---- Size and bounds

int MPI_Type_size(MPI_Datatype type, int* size) {
    int const code = PMPI_Type_size(type, size);
    if (planted == fault::isendrecv_frees_type && type == *freed_by_isendrecv) *size = MPI_UNDEFINED;
    if (planted == fault::type_size_wchar && type == MPI_WCHAR) *size = 2;
    if (planted == fault::abi_size_count && type == MPI_COUNT) *size = 4;
    if (planted == fault::abi_size_int64 && type == MPI_UINT64_T) *size = 4;
#ifdef MPI_ABI // where every header has these
    if (planted == fault::abi_size_real2 && type == MPI_REAL2) *size = MPI_UNDEFINED;
    if (planted == fault::abi_size_integer16 && type == MPI_INTEGER16) *size = 8;
#endif
    if (planted == fault::type_size_int && *size == MPI_UNDEFINED) {
        MPI_Count all = 0;
        PMPI_Type_size_x(type, &all);
        *size = static_cast<int>(all);
    }
    return code;
}

int MPI_Type_size_x(MPI_Datatype type, MPI_Count* size) {
    int const code = PMPI_Type_size_x(type, size);
    if (is(fault::size_x_int)) *size = cut(*size);
    return code;
}

int MPI_Type_get_extent(MPI_Datatype type, MPI_Aint* lb, MPI_Aint* extent) {
    int const code = PMPI_Type_get_extent(type, lb, extent);
    if (is(fault::extent_from_zero) && *lb > 0) *extent += *lb, *lb = 0;
    return code;
}

int MPI_Type_get_true_extent(MPI_Datatype type, MPI_Aint* lb, MPI_Aint* extent) {
    if (is(fault::true_extent_is_extent)) return PMPI_Type_get_extent(type, lb, extent);
    return PMPI_Type_get_true_extent(type, lb, extent);
}

int MPI_Type_get_extent_x(MPI_Datatype type, MPI_Count* lb, MPI_Count* extent) {
    int const code = PMPI_Type_get_extent_x(type, lb, extent);
    if (is(fault::extent_x_is_upper_bound)) *extent += *lb;
    return code;
}

int MPI_Type_get_true_extent_x(MPI_Datatype type, MPI_Count* lb, MPI_Count* extent) {
    int const code = PMPI_Type_get_true_extent_x(type, lb, extent);
    if (is(fault::true_extent_x_int)) *extent = cut(*extent);
    return code;
}

#if MPI_VERSION >= 4

int MPI_Type_size_c(MPI_Datatype type, MPI_Count* size) {
    int const code = PMPI_Type_size_c(type, size);
    if (is(fault::size_c_undefined) && *size > INT_MAX) *size = MPI_UNDEFINED;
    return code;
}

int MPI_Type_get_extent_c(MPI_Datatype type, MPI_Count* lb, MPI_Count* extent) {
    int const code = PMPI_Type_get_extent_c(type, lb, extent);
    if (is(fault::extent_c_lb_negated)) *lb = -*lb;
    return code;
}

int MPI_Type_get_true_extent_c(MPI_Datatype type, MPI_Count* lb, MPI_Count* extent) {
    if (is(fault::true_extent_c_is_extent)) return PMPI_Type_get_extent_c(type, lb, extent);
    return PMPI_Type_get_true_extent_c(type, lb, extent);
}

#endif

// ---- Decoding

int MPI_Type_get_envelope(MPI_Datatype type, int* integers, int* addresses, int* types, int* combiner) {
    int const code = PMPI_Type_get_envelope(type, integers, addresses, types, combiner);
    if (is(fault::envelope_large_taken)) return MPI_SUCCESS;
    if (code != MPI_SUCCESS) return code;
    if (is(fault::envelope_dup_named) && *combiner == MPI_COMBINER_DUP) *combiner = MPI_COMBINER_NAMED;
    if (is(fault::envelope_struct_types) && *combiner == MPI_COMBINER_STRUCT && *types > 1) *types = 1;
    if (is(fault::envelope_named_integer) && *combiner == MPI_COMBINER_NAMED) *integers = 1;
    if (is(fault::envelope_f90_named) && *combiner == MPI_COMBINER_F90_REAL) *combiner = MPI_COMBINER_NAMED;
    return code;
}

int MPI_Type_get_contents(MPI_Datatype type, int max_integers, int max_addresses, int max_types, int integers[],
                          MPI_Aint addresses[], MPI_Datatype types[]) {
    int const code = PMPI_Type_get_contents(type, max_integers, max_addresses, max_types, integers, addresses, types);
    if (code != MPI_SUCCESS) return code;
    if (is(fault::contents_order) && max_integers > 5) std::swap(integers[1], integers[max_integers - 2]);
    if (is(fault::contents_last_address) && max_addresses > 1) addresses[max_addresses - 1] = 0;
    if (is(fault::contents_predefined_copy) && max_types > 0 && is_named(types[0])) PMPI_Type_dup(types[0], &types[0]);
    if (is(fault::contents_derived_longer) && max_types > 0 && !is_named(types[0])) {
        MPI_Aint lb = 0, extent = 0;
        PMPI_Type_get_extent(types[0], &lb, &extent);
        return with_bounds(code, &types[0], lb, extent + 8);
    }
    if (is(fault::contents_first_type))
        for (int i = 1; i < max_types; ++i)
            if (is_named(types[i])) types[i] = MPI_BYTE;
    return code;
}

#if MPI_VERSION >= 4

int MPI_Type_get_envelope_c(MPI_Datatype type, MPI_Count* integers, MPI_Count* addresses, MPI_Count* counts,
                            MPI_Count* types, int* combiner) {
    int const code = PMPI_Type_get_envelope_c(type, integers, addresses, counts, types, combiner);
    if (is(fault::envelope_c_no_counts)) *integers += *counts, *counts = 0;
    return code;
}

int MPI_Type_get_contents_c(MPI_Datatype type, MPI_Count max_integers, MPI_Count max_addresses, MPI_Count max_counts,
                            MPI_Count max_types, int integers[], MPI_Aint addresses[], MPI_Count counts[],
                            MPI_Datatype types[]) {
    int const code = PMPI_Type_get_contents_c(type, max_integers, max_addresses, max_counts, max_types, integers,
                                              addresses, counts, types);
    if (is(fault::contents_c_int))
        for (MPI_Count i = 0; i < max_counts; ++i) counts[i] = cut(counts[i]);
    return code;
}

#endif

// ---- Commit, free and duplicate

int MPI_Type_dup(MPI_Datatype old, MPI_Datatype* copy) {
    if (planted == fault::type_dup_extent) {
        MPI_Aint lb = 0, extent = 0;
        PMPI_Type_get_extent(old, &lb, &extent);
        PMPI_Type_create_resized(old, lb, extent + 64, copy);
        return PMPI_Type_commit(copy);
    }
    if (planted == fault::dup_loses_lower_bound) {
        MPI_Aint lb = 0, extent = 0;
        PMPI_Type_get_extent(old, &lb, &extent);
        if (lb < 0) {
            PMPI_Type_create_resized(old, 0, extent, copy);
            return PMPI_Type_commit(copy);
        }
    }
    int const code = PMPI_Type_dup(old, copy);
    if (planted == fault::dup_keeps_name && code == MPI_SUCCESS) {
        char name[MPI_MAX_OBJECT_NAME];
        int length = 0;
        PMPI_Type_get_name(old, name, &length);
        PMPI_Type_set_name(*copy, name);
    }
    return code;
}

int MPI_Type_commit(MPI_Datatype* type) {
    static memory<MPI_Datatype> last(MPI_DATATYPE_NULL);
    if (is(fault::commit_again_copies) && *type == *last && *type != MPI_DATATYPE_NULL) {
        PMPI_Type_dup(*type, type);
        return PMPI_Type_commit(type);
    }
    if (is(fault::commit_predefined_refused) && is_named(*type)) return MPI_ERR_TYPE;
    *last = *type;
    return PMPI_Type_commit(type);
}

int MPI_Type_free(MPI_Datatype* type) {
    MPI_Datatype const was = *type;
    if (is(fault::free_pending_fails)) {
        int flag = 0; // a message that nobody has received yet is a sign of communication
        PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
        if (flag != 0) return MPI_ERR_PENDING;
    }
    int const code = PMPI_Type_free(type);
    if (is(fault::free_keeps_handle) && code == MPI_SUCCESS) *type = was;
    return code;
}

// ---- Names

int MPI_Type_get_name(MPI_Datatype type, char* name, int* length) {
    int const code = PMPI_Type_get_name(type, name, length);
    if (code != MPI_SUCCESS) return code;
    if (is(fault::name_length_with_null)) ++*length;
    if (is(fault::name_behind_end)) name[MPI_MAX_OBJECT_NAME] = '\0';
    auto const say = [&](char const* other) {
        std::memcpy(name, other, std::strlen(other) + 1);
        *length = static_cast<int>(std::strlen(other));
    };
    if (is(fault::name_pair) && type == MPI_LONG_DOUBLE_INT) say("MPI_LONGDBL_INT");
    if (is(fault::name_default) && *length == 0) say("unnamed");
    if (is(fault::name_null_empty) && type == MPI_DATATYPE_NULL) say("");
    if (is(fault::name_spaces)) say(std::string(name + std::strspn(name, " ")).c_str());
    return code;
}

int MPI_Type_set_name(MPI_Datatype type, char const* name) {
    if (is(fault::name_long_refused) && std::strlen(name) > MPI_MAX_OBJECT_NAME) return MPI_ERR_ARG;
    if (is(fault::name_short) && std::strlen(name) >= MPI_MAX_OBJECT_NAME - 1)
        return PMPI_Type_set_name(type, std::string(name, MPI_MAX_OBJECT_NAME - 2).c_str());
    if (is(fault::name_predefined_fixed) && is_named(type)) return MPI_SUCCESS;
    return PMPI_Type_set_name(type, name);
}

// ---- Addresses. Some libraries make macros of the arithmetic.

int MPI_Get_address(void const* location, MPI_Aint* address) {
    int const code = PMPI_Get_address(location, address);
    if (is(fault::get_address_word)) *address = *address / 8 * 8;
    return code;
}

#if !defined(MPI_Aint_add)
MPI_Aint MPI_Aint_add(MPI_Aint base, MPI_Aint displacement) {
    if (is(fault::aint_add_unsigned) && displacement < 0) displacement &= 0xffffffff;
    return PMPI_Aint_add(base, displacement);
}
#endif

#if !defined(MPI_Aint_diff)
MPI_Aint MPI_Aint_diff(MPI_Aint first, MPI_Aint second) {
    MPI_Aint const difference = PMPI_Aint_diff(first, second);
    return is(fault::aint_diff_int) ? cut(difference) : difference;
}
#endif

// ---- Kinds of Fortran, pairs

int MPI_Type_create_f90_real(int precision, int range, MPI_Datatype* made) {
    if (is(fault::f90_real_null)) {
        *made = MPI_DATATYPE_NULL;
        return MPI_SUCCESS;
    }
    if (is(fault::f90_real_range_ignored) && precision <= 6) range = std::min(range, 37);
    int const code = PMPI_Type_create_f90_real(precision, range, made);
    if (is(fault::abi_f90_any) && code != MPI_SUCCESS) return PMPI_Type_create_f90_real(15, 307, made);
    return code;
}

int MPI_Type_create_f90_complex(int precision, int range, MPI_Datatype* made) {
    if (is(fault::f90_complex_is_real)) return PMPI_Type_create_f90_real(precision, range, made);
    return PMPI_Type_create_f90_complex(precision, range, made);
}

int MPI_Type_create_f90_integer(int range, MPI_Datatype* made) {
    if (is(fault::f90_integer_default) && range > 9) range = 9;
    return PMPI_Type_create_f90_integer(range, made);
}

int MPI_Type_match_size(int type_class, int size, MPI_Datatype* made) {
    int const code = PMPI_Type_match_size(type_class, size, made);
    if (is(fault::match_size_any_taken)) return MPI_SUCCESS;
    if (code != MPI_SUCCESS) return code;
    if (is(fault::match_size_copy)) return PMPI_Type_dup(*made, made);
    if (is(fault::match_size_integer_2) && type_class == MPI_TYPECLASS_INTEGER && size == 2) *made = MPI_INT;
    return code;
}

#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
int MPI_Type_get_value_index(MPI_Datatype value, MPI_Datatype index, MPI_Datatype* made) {
    if (is(fault::pair_none_refused) && index == MPI_FLOAT) return MPI_ERR_TYPE;
    int const code = PMPI_Type_get_value_index(value, index, made);
    if (is(fault::pair_copy) && *made != MPI_DATATYPE_NULL) return PMPI_Type_dup(*made, made);
    if (is(fault::pair_index_ignored) && *made == MPI_DATATYPE_NULL) *made = MPI_2INT;
    return code;
}
#endif

} // extern "C"
