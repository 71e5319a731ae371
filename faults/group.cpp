// Groups.
#include "core/core.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

using namespace assay_faults;

namespace {

int members_of(MPI_Group group) {
    int size = 0;
    PMPI_Group_size(group, &size);
    return size;
}

// The group from its last member to its first.
int reverse(MPI_Group group, MPI_Group* made) {
    int range[1][3] = {{members_of(group) - 1, 0, -1}};
    return PMPI_Group_range_incl(group, members_of(group) == 0 ? 0 : 1, range, made);
}

// The ranks that triplets stand for; `as_planted` with what a fault makes of them.
std::vector<int> expanded(int n, int ranges[][3], bool as_planted) {
    std::vector<int> ranks;
    for (int i = 0; i < n; ++i) {
        int const first = ranges[i][0], last = ranges[i][1];
        int const stride =
            as_planted && planted == fault::group_range_excl_stride ? (last < first ? -1 : 1) : ranges[i][2];
        auto const begin = static_cast<std::ptrdiff_t>(ranks.size());
        for (int rank = first; stride > 0 ? rank <= last : rank >= last; rank += stride) ranks.push_back(rank);
        if (!as_planted) continue;
        if (planted == fault::group_range_incl_negative && stride < 0) std::reverse(ranks.begin() + begin, ranks.end());
        if (planted == fault::group_range_incl_last && ranks.back() != last) ranks.push_back(last);
    }
    return ranks;
}

} // namespace

extern "C" {

int MPI_Group_size(MPI_Group group, int* size) {
    int const code = PMPI_Group_size(group, size);
    if (planted == fault::group_size_empty && *size == 0) *size = 1;
    return code;
}

int MPI_Group_rank(MPI_Group group, int* rank) {
    int const code = PMPI_Group_rank(group, rank);
    if (planted == fault::group_rank_outside && *rank == MPI_UNDEFINED) *rank = 0;
    return code;
}

int MPI_Group_translate_ranks(MPI_Group from, int n, int const ranks[], MPI_Group to, int found[]) {
    int const code = PMPI_Group_translate_ranks(from, n, ranks, to, found);
    if (planted == fault::group_translate_third && n > 2) found[2] = found[0];
    for (int i = 0; i < n; ++i) {
        if (planted == fault::group_translate_undefined && found[i] == MPI_UNDEFINED) found[i] = MPI_PROC_NULL;
        if (planted == fault::group_translate_proc_null && ranks[i] == MPI_PROC_NULL) found[i] = MPI_UNDEFINED;
    }
    if (planted == fault::group_translate_beyond && n > 0) found[n] = 0;
    return code;
}

int MPI_Group_compare(MPI_Group a, MPI_Group b, int* result) {
    int const code = PMPI_Group_compare(a, b, result);
    if (planted == fault::group_compare_order && *result == MPI_SIMILAR) *result = MPI_IDENT;
    if (planted == fault::group_compare_handle && *result == MPI_IDENT && a != b) *result = MPI_SIMILAR;
    if (planted == fault::group_compare_members && *result == MPI_UNEQUAL && members_of(a) == members_of(b))
        *result = MPI_SIMILAR;
    return code;
}

int MPI_Group_union(MPI_Group a, MPI_Group b, MPI_Group* made) {
    bool const swapped = planted == fault::group_union_order && members_of(a) > 0 && members_of(b) > 0;
    return PMPI_Group_union(swapped ? b : a, swapped ? a : b, made);
}

int MPI_Group_intersection(MPI_Group a, MPI_Group b, MPI_Group* made) {
    bool const swapped = planted == fault::group_intersection_order;
    int const code = PMPI_Group_intersection(swapped ? b : a, swapped ? a : b, made);
    if (planted == fault::group_intersection_empty && members_of(*made) == 0) *made = MPI_GROUP_NULL;
    return code;
}

int MPI_Group_difference(MPI_Group a, MPI_Group b, MPI_Group* made) {
    int const code = PMPI_Group_difference(a, b, made);
    if (planted == fault::group_difference_order && members_of(*made) > 1) {
        MPI_Group const old = *made;
        return reverse(old, made);
    }
    return code;
}

int MPI_Group_incl(MPI_Group group, int n, int const ranks[], MPI_Group* made) {
    std::vector<int> given(ranks, ranks + n);
    if (planted == fault::group_incl_sorted) std::sort(given.begin(), given.end());
    if (planted == fault::group_incl_none && n == 0) return PMPI_Group_excl(group, 0, nullptr, made);
    int const code = PMPI_Group_incl(group, n, given.data(), made);
    return planted == fault::wrong_argument_unnoticed ? MPI_SUCCESS : code;
}

int MPI_Group_excl(MPI_Group group, int n, int const ranks[], MPI_Group* made) {
    if (planted == fault::group_excl_none && n == 0) return PMPI_Group_incl(group, 0, nullptr, made);
    return PMPI_Group_excl(group, planted == fault::group_excl_last && n > 1 ? n - 1 : n, ranks, made);
}

int MPI_Group_range_incl(MPI_Group group, int n, int ranges[][3], MPI_Group* made) {
    if (planted != fault::group_range_incl_negative && planted != fault::group_range_incl_last)
        return PMPI_Group_range_incl(group, n, ranges, made);
    auto const ranks = expanded(n, ranges, true);
    return PMPI_Group_incl(group, static_cast<int>(ranks.size()), ranks.data(), made);
}

int MPI_Group_range_excl(MPI_Group group, int n, int ranges[][3], MPI_Group* made) {
    if (planted == fault::group_range_excl_second) return PMPI_Group_range_excl(group, n > 1 ? 1 : n, ranges, made);
    if (planted != fault::group_range_excl_stride) return PMPI_Group_range_excl(group, n, ranges, made);
    auto const ranks = expanded(n, ranges, true);
    return PMPI_Group_excl(group, static_cast<int>(ranks.size()), ranks.data(), made);
}

int MPI_Group_free(MPI_Group* group) {
    MPI_Group const before = *group;
    int const code = PMPI_Group_free(group);
    if (planted == fault::group_free_keeps) *group = before;
    return code;
}

} // extern "C"
