// Groups, communicators, their attributes, names and hints.
#include "core.hpp"

#include <algorithm>
#include <cctype>
#include <climits>
#include <csignal>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

using namespace assay_faults;

std::vector<int> assay_faults::keys_of_self;

namespace {

int size_of(MPI_Comm comm) {
    int size = 0;
    PMPI_Comm_size(comm, &size);
    return size;
}

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

// In place: a communicator of the same processes in reverse (both sides of an intercommunicator).
int reverse(MPI_Comm* comm) {
    if (*comm == MPI_COMM_NULL) return MPI_SUCCESS;
    MPI_Comm old = *comm;
    int const code = PMPI_Comm_split(old, 0, -rank_in(old), comm);
    PMPI_Comm_free(&old);
    return code;
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

std::mutex mutex;
std::set<MPI_Comm> freed; // or, under comm_dup_spoils, duplicated

// The last attribute that was stored, and the last MPI_Comm_idup.
struct stored {
    MPI_Comm comm = MPI_COMM_NULL;
    int key = 0;
    void* value = nullptr;
} last_stored;
MPI_Comm idup_of = MPI_COMM_NULL, *idup_made = nullptr;

// ---- Callbacks of attributes, with what faults make of them

struct callbacks {
    MPI_Comm_copy_attr_function* copy;
    MPI_Comm_delete_attr_function* remove;
    void* extra;
    bool key_is_freed = false;
};
std::map<int, callbacks*> by_key; // never freed: a key that was freed may still be in use
enum class caller { other, set_attr, delete_attr, free };
thread_local caller within = caller::other;

bool changes_callbacks() {
    switch (planted) {
    case fault::comm_attr_set_silent:
    case fault::comm_attr_free_silent:
    case fault::comm_attr_disconnect_silent:
    case fault::comm_attr_delete_twice:
    case fault::comm_attr_copy_twice:
    case fault::comm_attr_copy_value:
    case fault::comm_attr_copy_key:
    case fault::comm_attr_copy_flag:
    case fault::comm_attr_copy_out:
    case fault::comm_attr_copy_error:
    case fault::comm_attr_delete_error:
    case fault::comm_attr_key_forgotten: return true;
    default: return false;
    }
}

int copy_through(MPI_Comm comm, int key, void* extra, void* value, void* out, int* flag) {
    auto const& c = *static_cast<callbacks*>(extra);
    if (planted == fault::comm_attr_key_forgotten && c.key_is_freed) {
        *flag = 0;
        return MPI_SUCCESS;
    }
    void* const given = planted == fault::comm_attr_copy_value ? static_cast<char*>(value) + 1 : value;
    int code = c.copy(comm, planted == fault::comm_attr_copy_key ? key + 1 : key, c.extra, given, out, flag);
    if (planted == fault::comm_attr_copy_twice) code = c.copy(comm, key, c.extra, given, out, flag);
    if (planted == fault::comm_attr_copy_flag && *flag == 0) {
        *flag = 1;
        *static_cast<void**>(out) = value;
    }
    if (planted == fault::comm_attr_copy_out) *static_cast<void**>(out) = value;
    return planted == fault::comm_attr_copy_error ? MPI_SUCCESS : code;
}

int delete_through(MPI_Comm comm, int key, void* value, void* extra) {
    auto const& c = *static_cast<callbacks*>(extra);
    if (planted == fault::comm_attr_set_silent && within == caller::set_attr) return MPI_SUCCESS;
    if (planted == fault::comm_attr_free_silent && within == caller::free) return MPI_SUCCESS;
    if (planted == fault::comm_attr_disconnect_silent && within == caller::other) return MPI_SUCCESS;
    if (planted == fault::comm_attr_key_forgotten && c.key_is_freed) return MPI_SUCCESS;
    int code = c.remove(comm, key, value, c.extra);
    if (planted == fault::comm_attr_delete_twice) code = c.remove(comm, key, value, c.extra);
    return planted == fault::comm_attr_delete_error ? MPI_SUCCESS : code;
}

bool has_key(MPI_Info info, char const* key) {
    int n = 0;
    if (info != MPI_INFO_NULL) PMPI_Info_get_nkeys(info, &n);
    for (int i = 0; i < n; ++i) {
        char name[MPI_MAX_INFO_KEY + 1] = "";
        PMPI_Info_get_nthkey(info, i, name);
        if (std::strcmp(name, key) == 0) return true;
    }
    return false;
}

bool has_foreign_key(MPI_Info info) {
    int n = 0;
    if (info != MPI_INFO_NULL) PMPI_Info_get_nkeys(info, &n);
    for (int i = 0; i < n; ++i) {
        char name[MPI_MAX_INFO_KEY + 1] = "";
        PMPI_Info_get_nthkey(info, i, name);
        if (std::strncmp(name, "mpi_", 4) != 0) return true;
    }
    return false;
}

} // namespace

namespace assay_faults {

bool was_freed(MPI_Comm comm) {
    std::lock_guard const lock(mutex);
    return freed.count(comm) != 0;
}

void duplicated(MPI_Comm comm, MPI_Comm* copy) {
    if (planted == fault::comm_dup_inter_order && is_inter(comm)) reverse(copy);
    if (planted == fault::comm_dup_spoils) {
        std::lock_guard const lock(mutex);
        freed.insert(comm);
    }
    if (planted == fault::comm_dup_errhandler) PMPI_Comm_set_errhandler(*copy, MPI_ERRORS_RETURN);
    if (planted == fault::comm_name_inherited) {
        char name[MPI_MAX_OBJECT_NAME + 1] = "";
        int length = 0;
        PMPI_Comm_get_name(comm, name, &length);
        if (std::strncmp(name, "MPI_", 4) != 0) PMPI_Comm_set_name(*copy, name);
    }
    if (planted == fault::hint_inherited) {
        MPI_Info info = MPI_INFO_NULL;
        PMPI_Comm_get_info(comm, &info);
        PMPI_Comm_set_info(*copy, info);
        PMPI_Info_free(&info);
    }
    if (planted == fault::dup_topology) {
        int kind = MPI_UNDEFINED;
        PMPI_Topo_test(comm, &kind);
        if (kind == MPI_UNDEFINED) return;
        PMPI_Comm_free(copy);
        PMPI_Comm_split(comm, 0, rank_in(comm), copy);
    }
}

void attribute_read(int key, void* value, int* flag) {
    auto const place = static_cast<void**>(value);
    static int changed;
    auto const becomes = [&](int number) {
        changed = number;
        *place = &changed;
    };
    if (key == MPI_TAG_UB) {
        if (planted == fault::tag_ub_small) becomes(32766);
        if (planted == fault::tag_ub_differs && world_rank == 1) becomes(**static_cast<int**>(value) - 1);
        if (planted == fault::tag_ub_too_large) becomes(INT_MAX);
        if (planted == fault::tag_ub_missing) *flag = 0;
        return;
    }
    if (planted == fault::comm_attr_io && key == MPI_IO) return becomes(1000000);
    if (planted == fault::comm_attr_lastusedcode && key == MPI_LASTUSEDCODE) return becomes(MPI_ERR_LASTCODE - 1);
    if (planted == fault::comm_attr_wtime && key == MPI_WTIME_IS_GLOBAL) return becomes(2);
    for (int own : {MPI_IO, MPI_LASTUSEDCODE, MPI_WTIME_IS_GLOBAL, MPI_APPNUM, MPI_UNIVERSE_SIZE})
        if (key == own) return;
    if (planted == fault::comm_attr_absent_found && *flag == 0) {
        *flag = 1;
        *place = nullptr;
    }
    if (*flag == 0) return;
    if (planted == fault::comm_attr_zero_absent && *place == nullptr) *flag = 0;
    if (planted == fault::comm_attr_value_int)
        *place = reinterpret_cast<void*>(
            static_cast<std::intptr_t>(static_cast<int>(reinterpret_cast<std::intptr_t>(*place))));
}

} // namespace assay_faults

extern "C" {

// ---- Groups

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

// ---- What a communicator says of itself

int MPI_Comm_size(MPI_Comm comm, int* size) {
    if (planted == fault::without_mpi_crashes && (!initialized() || finalized())) raise(SIGSEGV);
    if (planted == fault::without_mpi_succeeds && (!initialized() || finalized())) return MPI_SUCCESS;
    int const code = PMPI_Comm_size(comm, size);
    if (planted == fault::comm_self_size && comm == MPI_COMM_SELF) return PMPI_Comm_size(MPI_COMM_WORLD, size);
    if (planted == fault::comm_size_inter && is_inter(comm)) {
        int remote = 0;
        PMPI_Comm_remote_size(comm, &remote);
        *size += remote;
    }
    return code;
}

int MPI_Comm_remote_size(MPI_Comm comm, int* size) {
    return planted == fault::comm_remote_size_local ? PMPI_Comm_size(comm, size) : PMPI_Comm_remote_size(comm, size);
}

int MPI_Comm_group(MPI_Comm comm, MPI_Group* group) {
    return planted == fault::comm_group_inter && is_inter(comm) ? PMPI_Comm_remote_group(comm, group)
                                                                : PMPI_Comm_group(comm, group);
}

int MPI_Comm_remote_group(MPI_Comm comm, MPI_Group* group) {
    return planted == fault::comm_remote_group_local ? PMPI_Comm_group(comm, group)
                                                     : PMPI_Comm_remote_group(comm, group);
}

int MPI_Comm_compare(MPI_Comm a, MPI_Comm b, int* result) {
    int const code = PMPI_Comm_compare(a, b, result);
    if (planted == fault::comm_compare_context && *result == MPI_CONGRUENT) *result = MPI_IDENT;
    if (planted == fault::comm_compare_order && *result == MPI_SIMILAR) *result = MPI_CONGRUENT;
    if (planted == fault::comm_compare_inter && *result == MPI_SIMILAR && is_inter(a)) *result = MPI_UNEQUAL;
    if (planted == fault::comm_compare_members && *result == MPI_UNEQUAL) *result = MPI_SIMILAR;
    return code;
}

// ---- Constructors

int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* made) {
    if (planted == fault::comm_split_ties && key > -1000 && key < 1000)
        key = key * 1024 + size_of(comm) - rank_in(comm);
    if (planted == fault::comm_split_negative_key && key < 0) key = 0;
    if (planted == fault::comm_split_inter_key && is_inter(comm)) key = 0;
    if (planted == fault::comm_split_largest_color && color == INT_MAX) color = 0;
    if (planted == fault::comm_split_undefined && color == MPI_UNDEFINED) color = 12345;
    int const code = PMPI_Comm_split(comm, color, key, made);
    if (planted == fault::comm_attr_split_inherits && comm == last_stored.comm && *made != MPI_COMM_NULL)
        PMPI_Comm_set_attr(*made, last_stored.key, last_stored.value);
    if (planted == fault::split_forgets_handler && code == MPI_SUCCESS && *made != MPI_COMM_NULL)
        PMPI_Comm_set_errhandler(*made, MPI_ERRORS_RETURN);
    return code;
}

int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* made) {
    if (planted == fault::comm_split_type_key) key = 0;
    if (planted == fault::comm_split_type_undefined && type == MPI_UNDEFINED) return PMPI_Comm_dup(MPI_COMM_SELF, made);
#if ASSAY_MPI4
    if (planted == fault::comm_hw_guided_anything && type == MPI_COMM_TYPE_HW_GUIDED)
        return PMPI_Comm_split(comm, 0, key, made);
    if (planted == fault::comm_hw_guided_null_info && type == MPI_COMM_TYPE_HW_GUIDED && info == MPI_INFO_NULL)
        return PMPI_Comm_split(comm, 0, key, made);
    if (planted == fault::comm_hw_unguided_whole && type == MPI_COMM_TYPE_HW_UNGUIDED)
        return PMPI_Comm_split(comm, 0, key, made);
    if (planted == fault::comm_hw_unguided_silent && type == MPI_COMM_TYPE_HW_UNGUIDED)
        return PMPI_Comm_dup(MPI_COMM_SELF, made);
#endif
    int const code = PMPI_Comm_split_type(comm, type, key, info, made);
    if (planted == fault::comm_attr_split_type_inherits && comm == last_stored.comm && *made != MPI_COMM_NULL)
        PMPI_Comm_set_attr(*made, last_stored.key, last_stored.value);
    return code;
}

int MPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm* made) {
    int const code = PMPI_Comm_create(comm, group, made);
    if (planted == fault::comm_create_order) return reverse(made);
    if (planted == fault::comm_create_inter_order && is_inter(comm)) return reverse(made);
    if (planted == fault::comm_create_outside && *made == MPI_COMM_NULL) return PMPI_Comm_dup(MPI_COMM_SELF, made);
    if (planted == fault::comm_attr_create_inherits && comm == last_stored.comm && *made != MPI_COMM_NULL)
        PMPI_Comm_set_attr(*made, last_stored.key, last_stored.value);
    return code;
}

int MPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm* made) {
    if (planted == fault::comm_create_group_tag) {
        // As if the library used the tag of the caller for messages of its own, which nobody receives.
        static int const number = 0;
        int const size = size_of(comm);
        MPI_Request request = MPI_REQUEST_NULL;
        PMPI_Isend(&number, 1, MPI_INT, (rank_in(comm) + 1) % size, tag, comm, &request);
        PMPI_Request_free(&request);
    }
    int const code = PMPI_Comm_create_group(comm, group, tag, made);
    if (planted == fault::comm_create_group_order) return reverse(made);
    if (planted == fault::comm_create_group_thread && !in_main_thread()) return reverse(made);
    if (planted == fault::comm_create_group_outside && *made == MPI_COMM_NULL)
        return PMPI_Comm_dup(MPI_COMM_SELF, made);
    return code;
}

#if ASSAY_MPI4
int MPI_Group_from_session_pset(MPI_Session session, char const* name, MPI_Group* group) {
    bool const self = std::strcmp(name, "mpi://SELF") == 0;
    int const code =
        PMPI_Group_from_session_pset(session, planted == fault::session_set_self && self ? "mpi://WORLD" : name, group);
    if (planted == fault::session_set_missing && *group == MPI_GROUP_NULL) *group = MPI_GROUP_EMPTY;
    return code;
}

int MPI_Comm_create_from_group(MPI_Group group, char const* name, MPI_Info info, MPI_Errhandler handler,
                               MPI_Comm* made) {
    if (planted == fault::comm_from_group_empty && group == MPI_GROUP_EMPTY) return PMPI_Comm_dup(MPI_COMM_SELF, made);
    int const code = PMPI_Comm_create_from_group(group, name, info, handler, made);
    if (planted == fault::comm_from_group_errhandler && *made != MPI_COMM_NULL)
        PMPI_Comm_set_errhandler(*made, MPI_ERRORS_ARE_FATAL);
    if (planted == fault::comm_from_group_short_tag && std::strlen(name) > 32) return MPI_ERR_ARG;
    return planted == fault::comm_from_group_order ? reverse(made) : code;
}

int MPI_Intercomm_create_from_groups(MPI_Group local, int local_leader, MPI_Group remote, int remote_leader,
                                     char const* name, MPI_Info info, MPI_Errhandler handler, MPI_Comm* made) {
    if (planted == fault::intercomm_from_groups_empty && local == MPI_GROUP_EMPTY)
        return PMPI_Comm_dup(MPI_COMM_SELF, made);
    int const code =
        PMPI_Intercomm_create_from_groups(local, local_leader, remote, remote_leader, name, info, handler, made);
    return planted == fault::intercomm_from_groups_order ? reverse(made) : code;
}

int MPI_Comm_idup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* made, MPI_Request* request) {
    int const code =
        PMPI_Comm_idup_with_info(comm, planted == fault::hint_foreign_refused ? MPI_INFO_NULL : info, made, request);
    idup_of = comm;
    idup_made = made;
    return planted == fault::hint_foreign_refused && has_foreign_key(info) ? MPI_ERR_INFO_KEY : code;
}
#endif

int MPI_Intercomm_create(MPI_Comm local, int local_leader, MPI_Comm peer, int remote_leader, int tag, MPI_Comm* made) {
    int const code = PMPI_Intercomm_create(local, local_leader, peer, remote_leader, tag, made);
    return planted == fault::intercomm_leader_order && local_leader > 0 ? reverse(made) : code;
}

int MPI_Comm_idup(MPI_Comm comm, MPI_Comm* made, MPI_Request* request) {
    if (planted == fault::comm_idup_alias) {
        *made = comm;
        *request = MPI_REQUEST_NULL;
        return MPI_SUCCESS;
    }
    if (planted == fault::comm_idup_order) {
        *request = MPI_REQUEST_NULL;
        return PMPI_Comm_split(comm, 0, -rank_in(comm), made);
    }
    idup_of = comm;
    idup_made = made;
    return PMPI_Comm_idup(comm, made, request);
}

int MPI_Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* made) {
    if (planted == fault::comm_dup_with_info_plain) return PMPI_Comm_split(comm, 0, rank_in(comm), made);
    int const code = PMPI_Comm_dup_with_info(comm, info, made);
    if (planted == fault::hint_forbids && has_key(info, "mpi_assert_exact_length")) return reverse(made);
    return code;
}

int MPI_Comm_free(MPI_Comm* comm) {
    MPI_Comm const before = *comm;
    within = caller::free;
    int const code = PMPI_Comm_free(comm);
    within = caller::other;
    if (planted == fault::comm_free_pending) {
        std::lock_guard const lock(mutex);
        freed.insert(before);
    }
    if (planted == fault::comm_free_keeps) *comm = before;
    return code;
}

// ---- Attributes

int MPI_Comm_create_keyval(MPI_Comm_copy_attr_function* copy, MPI_Comm_delete_attr_function* remove, int* key,
                           void* extra) {
    static std::atomic<int> calls;
    static std::atomic<int> previous;
    if (planted == fault::comm_attr_dup_fn && copy == MPI_COMM_DUP_FN) copy = MPI_COMM_NULL_COPY_FN;
    else if (planted == fault::comm_attr_null_copy && copy == MPI_COMM_NULL_COPY_FN) copy = MPI_COMM_DUP_FN;
    int code = MPI_SUCCESS;
    if (changes_callbacks() && copy != MPI_COMM_DUP_FN && copy != MPI_COMM_NULL_COPY_FN &&
        remove != MPI_COMM_NULL_DELETE_FN) {
        auto* const c = new callbacks{copy, remove, extra};
        code = PMPI_Comm_create_keyval(copy_through, delete_through, key, c);
        std::lock_guard const lock(mutex);
        by_key[*key] = c;
    } else {
        code = PMPI_Comm_create_keyval(copy, remove, key, extra);
    }
    if (planted == fault::comm_attr_key_repeats && ++calls % 70 == 0) *key = previous;
    previous = *key;
    return code;
}

int MPI_Comm_free_keyval(int* key) {
    int const before = *key;
    {
        std::lock_guard const lock(mutex);
        if (auto const found = by_key.find(before); found != by_key.end()) {
            found->second->key_is_freed = true;
            by_key.erase(found);
        }
    }
    int const code = PMPI_Comm_free_keyval(key);
    if (planted == fault::comm_attr_key_free_keeps) *key = before;
    return code;
}

int MPI_Comm_set_attr(MPI_Comm comm, int key, void* value) {
    if (comm == MPI_COMM_SELF) {
        keys_of_self.push_back(key);
        if (planted == fault::finalize_skips_callback && keys_of_self.size() == 3) return MPI_SUCCESS;
    }
    within = caller::set_attr;
    int const code = PMPI_Comm_set_attr(comm, key, value);
    within = caller::other;
    last_stored = {comm, key, value};
    if (planted == fault::comm_attr_idup_late && comm == idup_of && idup_made != nullptr)
        PMPI_Comm_set_attr(*idup_made, key, value);
    if (planted == fault::comm_attr_shared_by_all && comm != MPI_COMM_SELF)
        PMPI_Comm_set_attr(MPI_COMM_WORLD, key, value);
    return code;
}

int MPI_Comm_delete_attr(MPI_Comm comm, int key) {
    if (planted == fault::comm_attr_delete_ignored && key != MPI_KEYVAL_INVALID) return MPI_SUCCESS;
    within = caller::delete_attr;
    int const code = PMPI_Comm_delete_attr(comm, key);
    within = caller::other;
    return code;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
int MPI_Attr_put(MPI_Comm comm, int key, void* value) {
    return planted == fault::comm_attr_put_ignored ? MPI_SUCCESS : PMPI_Attr_put(comm, key, value);
}

int MPI_Attr_get(MPI_Comm comm, int key, void* value, int* flag) {
    int const code = PMPI_Attr_get(comm, key, value, flag);
    if (planted == fault::comm_attr_get_flag) *flag = *flag == 0 ? 1 : 0;
    return code;
}

int MPI_Keyval_free(int* key) {
    int const before = *key, code = PMPI_Keyval_free(key);
    if (planted == fault::keyval_free_keeps) *key = before;
    return code;
}
#pragma GCC diagnostic pop

// ---- Attributes of windows

int MPI_Win_create_keyval(MPI_Win_copy_attr_function* copy, MPI_Win_delete_attr_function* remove, int* key,
                          void* extra) {
    return PMPI_Win_create_keyval(copy, planted == fault::comm_win_silent ? MPI_WIN_NULL_DELETE_FN : remove, key,
                                  extra);
}

int MPI_Win_set_attr(MPI_Win win, int key, void* value) {
    void* old = nullptr;
    int flag = 0;
    if (planted == fault::comm_win_attr_lost) PMPI_Win_get_attr(win, key, &old, &flag);
    return flag != 0 ? MPI_SUCCESS : PMPI_Win_set_attr(win, key, value);
}

int MPI_Win_delete_attr(MPI_Win win, int key) {
    return planted == fault::comm_win_attr_stays ? MPI_SUCCESS : PMPI_Win_delete_attr(win, key);
}

// ---- Names

int MPI_Comm_set_name(MPI_Comm comm, char const* name) {
    static std::set<MPI_Comm> named;
    std::string given = name;
    if (planted == fault::comm_name_leading) given.erase(0, std::min(given.find_first_not_of(' '), given.size()));
    if (planted == fault::comm_name_too_long && given.size() >= MPI_MAX_OBJECT_NAME) return MPI_SUCCESS;
    if (planted == fault::comm_name_world_fixed && comm == MPI_COMM_WORLD) return MPI_SUCCESS;
    if (planted == fault::comm_name_short && given.size() > 64) given.resize(64);
    if (planted == fault::comm_name_once && !named.insert(comm).second) return MPI_SUCCESS;
    if (planted == fault::comm_name_of_root && !given.empty() && std::isdigit(given.back())) given.back() = '0';
    return PMPI_Comm_set_name(comm, given.c_str());
}

int MPI_Comm_get_name(MPI_Comm comm, char* name, int* length) {
    int const code = PMPI_Comm_get_name(comm, name, length);
    if (planted == fault::comm_name_length) *length += 1;
    if (planted == fault::comm_name_overflow) name[MPI_MAX_OBJECT_NAME] = '\0';
    if ((planted == fault::comm_name_world && comm == MPI_COMM_WORLD) ||
        (planted == fault::comm_name_null && comm == MPI_COMM_NULL)) {
        *name = '\0';
        *length = 0;
    }
    return code;
}

// ---- Hints

int MPI_Comm_set_info(MPI_Comm comm, MPI_Info info) {
    if (planted == fault::hint_foreign_refused && has_foreign_key(info)) return MPI_ERR_INFO_KEY;
    int const code = PMPI_Comm_set_info(comm, info);
    if (planted == fault::hint_others_reset && !has_key(info, "mpi_assert_no_any_tag")) {
        MPI_Info other = MPI_INFO_NULL;
        PMPI_Info_create(&other);
        PMPI_Info_set(other, "mpi_assert_no_any_tag", "false");
        PMPI_Comm_set_info(comm, other);
        PMPI_Info_free(&other);
    }
    return code;
}

int MPI_Comm_get_info(MPI_Comm comm, MPI_Info* used) {
    if (planted == fault::hint_null) {
        *used = MPI_INFO_NULL;
        return MPI_SUCCESS;
    }
    int const code = PMPI_Comm_get_info(comm, used);
    if (planted == fault::hint_value && has_key(*used, "mpi_assert_exact_length"))
        PMPI_Info_set(*used, "mpi_assert_exact_length", "1");
    if (planted == fault::hint_invented) PMPI_Info_set(*used, "assay_unknown_hint", "invented");
    return code;
}

} // extern "C"
