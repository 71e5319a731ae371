// Communicators, their names and hints.
#include "core/comm.hpp"

#include <algorithm>
#include <cctype>
#include <climits>
#include <csignal>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

using namespace assay_faults;

namespace {

int size_of(MPI_Comm comm) {
    int size = 0;
    PMPI_Comm_size(comm, &size);
    return size;
}

// In place: a communicator of the same processes in reverse (both sides of an intercommunicator).
int reverse(MPI_Comm* comm) {
    if (*comm == MPI_COMM_NULL) return MPI_SUCCESS;
    MPI_Comm old = *comm;
    int const code = PMPI_Comm_split(old, 0, -rank_in(old), comm);
    PMPI_Comm_free(&old);
    return code;
}

std::mutex mutex;
memory<std::set<MPI_Comm>> freed; // or, under comm_dup_spoils, duplicated

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

// What MPI_Comm_dup duplicated last, and the copy.
memory<std::pair<MPI_Comm, MPI_Comm>> last_duplicate({MPI_COMM_NULL, MPI_COMM_NULL});

} // namespace

namespace assay_faults {

memory<nonblocking_duplicate> last_idup;

MPI_Comm other_context(MPI_Comm comm) {
    if (planted != fault::contexts_swapped) return comm;
    return comm == last_duplicate->first    ? last_duplicate->second
           : comm == last_duplicate->second ? last_duplicate->first
                                            : comm;
}

bool was_freed(MPI_Comm comm) {
    std::lock_guard const lock(mutex);
    return freed->count(comm) != 0;
}

void duplicated(MPI_Comm comm, MPI_Comm* copy) {
    if (planted == fault::comm_dup_inter_order && is_inter(comm)) reverse(copy);
    if (planted == fault::comm_dup_spoils) {
        std::lock_guard const lock(mutex);
        freed->insert(comm);
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

} // namespace assay_faults

extern "C" {

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
    if (planted == fault::comm_attr_split_inherits && comm == last_stored->comm && *made != MPI_COMM_NULL)
        PMPI_Comm_set_attr(*made, last_stored->key, last_stored->value);
    if (planted == fault::split_forgets_handler && code == MPI_SUCCESS && *made != MPI_COMM_NULL)
        PMPI_Comm_set_errhandler(*made, MPI_ERRORS_RETURN);
    return code;
}

int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* made) {
    if (planted == fault::comm_split_type_key) key = 0;
    if (planted == fault::comm_split_type_inter && is_inter(comm)) {
        MPI_Comm whole = MPI_COMM_NULL; // both groups in one
        PMPI_Intercomm_merge(comm, 0, &whole);
        int const code = PMPI_Comm_split_type(whole, type, key, info, made);
        PMPI_Comm_free(&whole);
        return code;
    }
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
    if (planted == fault::comm_attr_split_type_inherits && comm == last_stored->comm && *made != MPI_COMM_NULL)
        PMPI_Comm_set_attr(*made, last_stored->key, last_stored->value);
    return code;
}

int MPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm* made) {
    int const code = PMPI_Comm_create(comm, group, made);
    if (planted == fault::comm_create_order) return reverse(made);
    if (planted == fault::comm_create_inter_order && is_inter(comm)) return reverse(made);
    if (planted == fault::comm_create_outside && *made == MPI_COMM_NULL) return PMPI_Comm_dup(MPI_COMM_SELF, made);
    if (planted == fault::comm_attr_create_inherits && comm == last_stored->comm && *made != MPI_COMM_NULL)
        PMPI_Comm_set_attr(*made, last_stored->key, last_stored->value);
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
    if (planted == fault::comm_from_group_longest_tag && std::strlen(name) + 1 >= MPI_MAX_STRINGTAG_LEN)
        return MPI_ERR_ARG;
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
    *last_idup = {comm, made};
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
    *last_idup = {comm, made};
    return PMPI_Comm_idup(comm, made, request);
}

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* copy) {
    if (planted != fault::thread_comm_dup || in_main_thread()) {
        static memory<std::atomic<int>> calls;
        if (planted == fault::comm_dup_wears_out && ++*calls > 60) return MPI_ERR_OTHER;
        int const code = PMPI_Comm_dup(comm, copy);
        if (code == MPI_SUCCESS) {
            duplicated(comm, copy);
            *last_duplicate = {comm, *copy};
            if (planted == fault::dup_forgets_handler) PMPI_Comm_set_errhandler(*copy, MPI_ERRORS_RETURN);
        }
        return code;
    }
    int rank = 0;
    PMPI_Comm_rank(comm, &rank);
    return PMPI_Comm_split(comm, 0, -rank, copy);
}

int MPI_Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* made) {
    if (planted == fault::comm_dup_with_info_plain) return PMPI_Comm_split(comm, 0, rank_in(comm), made);
    int const code = PMPI_Comm_dup_with_info(comm, info, made);
    if (planted == fault::hint_forbids && has_key(info, "mpi_assert_exact_length")) return reverse(made);
    return code;
}

int MPI_Comm_free(MPI_Comm* comm) {
    MPI_Comm const before = *comm;
    if (planted == fault::comm_free_world_taken && before == MPI_COMM_WORLD) return MPI_SUCCESS;
    within = caller::free;
    int const code = PMPI_Comm_free(comm);
    within = caller::other;
    if (planted == fault::comm_free_pending) {
        std::lock_guard const lock(mutex);
        freed->insert(before);
    }
    if (planted == fault::comm_free_keeps) *comm = before;
    return code;
}

// ---- Names

int MPI_Comm_set_name(MPI_Comm comm, char const* name) {
    static memory<std::set<MPI_Comm>> named;
    std::string given = name;
    if (planted == fault::comm_name_leading) given.erase(0, std::min(given.find_first_not_of(' '), given.size()));
    if (planted == fault::comm_name_too_long && given.size() >= MPI_MAX_OBJECT_NAME) return MPI_SUCCESS;
    if (planted == fault::comm_name_world_fixed && comm == MPI_COMM_WORLD) return MPI_SUCCESS;
    if (planted == fault::comm_name_short && given.size() > 64) given.resize(64);
    if (planted == fault::comm_name_once && !named->insert(comm).second) return MPI_SUCCESS;
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
