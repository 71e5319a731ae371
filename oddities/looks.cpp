// What is complete, or has arrived, is found at the fourth look. What was found once is not denied afterwards.
#include "layers.hpp"

#include <map>
#include <mutex>
#include <set>
#include <vector>

using namespace assay_oddities;

namespace {

constexpr int looks = 3; // that find nothing

std::mutex lock;

// ---- Requests

struct patience {
    int left = looks;
    bool tells_itself =
        false; // persistent ones while they are inactive, and generalized ones: their state is known to the caller
};
std::map<std::size_t, patience> requests; // those that were looked at, all persistent and all generalized ones
std::map<std::size_t, std::map<int, int>> partitions; // of started partitioned receives

bool known_to_caller(MPI_Request request) {
    if (request == MPI_REQUEST_NULL) return true;
    return requests[key(request)].left <= 0;
}

// Whether these requests may all be said to be incomplete once more.
bool not_yet(int count, MPI_Request const* list) {
    std::lock_guard const guard(lock);
    bool active = false, known = false;
    for (int i = 0; i < count; ++i) {
        if (list[i] == MPI_REQUEST_NULL) continue;
        active = true;
        known = known || known_to_caller(list[i]);
    }
    if (!active || known) return false;
    for (int i = 0; i < count; ++i)
        if (list[i] != MPI_REQUEST_NULL) --requests[key(list[i])].left;
    return true;
}

// Whether at least one of these requests may be said to be incomplete once more.
bool one_not_yet(int count, MPI_Request const* list) {
    std::lock_guard const guard(lock);
    bool some = false;
    for (int i = 0; i < count; ++i) {
        if (known_to_caller(list[i])) continue;
        --requests[key(list[i])].left;
        some = true;
    }
    return some;
}

void found_complete(MPI_Request request) {
    std::lock_guard const guard(lock);
    if (request != MPI_REQUEST_NULL) requests[key(request)].left = 0;
}

// `before` is the handle before the call that completed it.
void completed(MPI_Request before) {
    if (before == MPI_REQUEST_NULL) return;
    std::lock_guard const guard(lock);
    auto const found = requests.find(key(before));
    if (found == requests.end()) return;
    if (found->second.tells_itself) found->second.left = 0;
    else requests.erase(found);
    partitions.erase(key(before));
}

void made(MPI_Request request) {
    std::lock_guard const guard(lock);
    requests[key(request)] = {0, true};
}

void started(MPI_Request request) {
    std::lock_guard const guard(lock);
    requests[key(request)] = {looks, true};
    partitions[key(request)].clear();
}

template <auto... P> void persistent() {
    auto const one = []<auto Q>() {
        always_over<Q>([](auto rest, auto... a) {
            int const code = rest(a...);
            if (code == MPI_SUCCESS) made(*std::get<sizeof...(a) - 1>(std::tie(a...)));
            return code;
        });
    };
    (one.template operator()<P>(), ...);
}

std::vector<MPI_Request> copy_of(int count, MPI_Request const* list) {
    return count > 0 ? std::vector<MPI_Request>(list, list + count) : std::vector<MPI_Request>();
}

// What must be known of requests so that nothing is denied that the caller knows.
void follow_requests() {
    static bool done = false;
    if (std::exchange(done, true)) return;
    persistent<&PMPI_Send_init, &PMPI_Bsend_init, &PMPI_Ssend_init, &PMPI_Rsend_init, &PMPI_Recv_init,
               &PMPI_Grequest_start>();
#if ASSAY_MPI4
    persistent<&PMPI_Psend_init, &PMPI_Precv_init, &PMPI_Barrier_init, &PMPI_Bcast_init, &PMPI_Gather_init,
               &PMPI_Gatherv_init, &PMPI_Scatter_init, &PMPI_Scatterv_init, &PMPI_Allgather_init, &PMPI_Allgatherv_init,
               &PMPI_Alltoall_init, &PMPI_Alltoallv_init, &PMPI_Alltoallw_init, &PMPI_Reduce_init, &PMPI_Allreduce_init,
               &PMPI_Reduce_scatter_init, &PMPI_Reduce_scatter_block_init, &PMPI_Scan_init, &PMPI_Exscan_init,
               &PMPI_Neighbor_allgather_init, &PMPI_Neighbor_allgatherv_init, &PMPI_Neighbor_alltoall_init,
               &PMPI_Neighbor_alltoallv_init, &PMPI_Neighbor_alltoallw_init>();
#endif
#if MPI_VERSION >= 4
    persistent<&PMPI_Send_init_c, &PMPI_Bsend_init_c, &PMPI_Ssend_init_c, &PMPI_Rsend_init_c, &PMPI_Recv_init_c,
               &PMPI_Bcast_init_c, &PMPI_Gather_init_c, &PMPI_Gatherv_init_c, &PMPI_Scatter_init_c,
               &PMPI_Scatterv_init_c, &PMPI_Allgather_init_c, &PMPI_Allgatherv_init_c, &PMPI_Alltoall_init_c,
               &PMPI_Alltoallv_init_c, &PMPI_Alltoallw_init_c, &PMPI_Reduce_init_c, &PMPI_Allreduce_init_c,
               &PMPI_Reduce_scatter_init_c, &PMPI_Reduce_scatter_block_init_c, &PMPI_Scan_init_c, &PMPI_Exscan_init_c,
               &PMPI_Neighbor_allgather_init_c, &PMPI_Neighbor_allgatherv_init_c, &PMPI_Neighbor_alltoall_init_c,
               &PMPI_Neighbor_alltoallv_init_c, &PMPI_Neighbor_alltoallw_init_c>();
#endif
    always_over<&PMPI_Start>([](auto rest, MPI_Request* request) {
        int const code = rest(request);
        if (code == MPI_SUCCESS) started(*request);
        return code;
    });
    always_over<&PMPI_Startall>([](auto rest, int count, MPI_Request* list) {
        int const code = rest(count, list);
        for (int i = 0; code == MPI_SUCCESS && i < count; ++i) started(list[i]);
        return code;
    });
    always_over<&PMPI_Request_free>([](auto rest, MPI_Request* request) {
        MPI_Request const before = *request;
        int const code = rest(request);
        std::lock_guard const guard(lock);
        requests.erase(key(before));
        partitions.erase(key(before));
        return code;
    });

    auto const one = [](auto rest, MPI_Request* request, auto... a) {
        MPI_Request const before = *request;
        int const code = rest(request, a...);
        if constexpr (sizeof...(a) == 1) completed(before); // MPI_Wait
        else if (*std::get<0>(std::tie(a...)) != 0) completed(before);
        return code;
    };
    always_over<&PMPI_Wait>(one);
    always_over<&PMPI_Test>(one);
    always_over<&PMPI_Waitall>([](auto rest, int count, MPI_Request* list, MPI_Status* statuses) {
        auto const before = copy_of(count, list);
        int const code = rest(count, list, statuses);
        for (auto const request : before) completed(request);
        return code;
    });
    always_over<&PMPI_Testall>([](auto rest, int count, MPI_Request* list, int* flag, MPI_Status* statuses) {
        auto const before = copy_of(count, list);
        int const code = rest(count, list, flag, statuses);
        if (*flag != 0)
            for (auto const request : before) completed(request);
        return code;
    });
    always_over<&PMPI_Waitany>([](auto rest, int count, MPI_Request* list, int* index, MPI_Status* status) {
        auto const before = copy_of(count, list);
        int const code = rest(count, list, index, status);
        if (*index >= 0 && *index < count) completed(before[static_cast<std::size_t>(*index)]);
        return code;
    });
    always_over<&PMPI_Testany>([](auto rest, int count, MPI_Request* list, int* index, int* flag, MPI_Status* status) {
        auto const before = copy_of(count, list);
        int const code = rest(count, list, index, flag, status);
        if (*flag != 0 && *index >= 0 && *index < count) completed(before[static_cast<std::size_t>(*index)]);
        return code;
    });
    auto const some = [](auto rest, int count, MPI_Request* list, int* done_count, int* indices, MPI_Status* statuses) {
        auto const before = copy_of(count, list);
        int const code = rest(count, list, done_count, indices, statuses);
        for (int k = 0; k < *done_count && k < count; ++k) completed(before[static_cast<std::size_t>(indices[k])]);
        return code;
    };
    always_over<&PMPI_Waitsome>(some);
    always_over<&PMPI_Testsome>(some);

    always_over<&PMPI_Request_get_status>([](auto rest, MPI_Request request, int* flag, MPI_Status* status) {
        int const code = rest(request, flag, status);
        if (*flag != 0) found_complete(request);
        return code;
    });
#if ASSAY_MPI41
    always_over<&PMPI_Request_get_status_any>(
        [](auto rest, int count, MPI_Request const* list, int* index, int* flag, MPI_Status* status) {
            int const code = rest(count, list, index, flag, status);
            if (*flag != 0 && *index >= 0 && *index < count) found_complete(list[*index]);
            return code;
        });
    always_over<&PMPI_Request_get_status_all>(
        [](auto rest, int count, MPI_Request const* list, int* flag, MPI_Status* statuses) {
            int const code = rest(count, list, flag, statuses);
            for (int i = 0; *flag != 0 && i < count; ++i) found_complete(list[i]);
            return code;
        });
    always_over<&PMPI_Request_get_status_some>(
        [](auto rest, int count, MPI_Request const* list, int* done_count, int* indices, MPI_Status* statuses) {
            int const code = rest(count, list, done_count, indices, statuses);
            for (int k = 0; k < *done_count && k < count; ++k) found_complete(list[indices[k]]);
            return code;
        });
#endif
}

// ---- Messages

// What was found on a communicator and may not have been received yet.
struct waiting_messages {
    int left = looks;
    std::set<std::pair<int, int>> found; // source, tag
    std::size_t received = 0;            // receives since the first of them was found
};
std::map<std::size_t, waiting_messages> messages;

bool nothing_yet(MPI_Comm comm) {
    std::lock_guard const guard(lock);
    auto& m = messages[key(comm)];
    if (m.left <= 0 || !m.found.empty()) return false;
    --m.left;
    return true;
}
void looked(MPI_Comm comm, bool there, MPI_Status const* status) {
    std::lock_guard const guard(lock);
    auto& m = messages[key(comm)];
    if (there) m.found.emplace(status->MPI_SOURCE, status->MPI_TAG);
    else if (m.found.empty()) m.left = looks;
}
void receives(MPI_Comm comm) {
    std::lock_guard const guard(lock);
    auto& m = messages[key(comm)];
    if (m.found.empty() || ++m.received < m.found.size()) return;
    m.found.clear();
    m.received = 0;
}

// The communicator is argument N of these calls that receive.
template <std::size_t N, auto... P> void receiving() {
    auto const one = []<auto Q>() {
        over<Q>([](auto rest, auto... a) {
            receives(std::get<N>(std::tie(a...)));
            return rest(a...);
        });
    };
    (one.template operator()<P>(), ...);
}

} // namespace

ODDITY(test_looks) {
    follow_requests();
    over<&PMPI_Test>([](auto rest, MPI_Request* request, int* flag, MPI_Status* status) {
        if (!not_yet(1, request)) return rest(request, flag, status);
        *flag = 0;
        return int{MPI_SUCCESS};
    });
    over<&PMPI_Testany>([](auto rest, int count, MPI_Request* list, int* index, int* flag, MPI_Status* status) {
        if (!not_yet(count, list)) return rest(count, list, index, flag, status);
        *index = MPI_UNDEFINED;
        *flag = 0;
        return int{MPI_SUCCESS};
    });
    over<&PMPI_Testsome>(
        [](auto rest, int count, MPI_Request* list, int* done_count, int* indices, MPI_Status* statuses) {
            if (!not_yet(count, list)) return rest(count, list, done_count, indices, statuses);
            *done_count = 0;
            return int{MPI_SUCCESS};
        });
    over<&PMPI_Testall>([](auto rest, int count, MPI_Request* list, int* flag, MPI_Status* statuses) {
        if (!one_not_yet(count, list)) return rest(count, list, flag, statuses);
        *flag = 0;
        return int{MPI_SUCCESS};
    });
}

ODDITY(get_status_looks) {
    follow_requests();
    over<&PMPI_Request_get_status>([](auto rest, MPI_Request request, int* flag, MPI_Status* status) {
        if (!not_yet(1, &request)) return rest(request, flag, status);
        *flag = 0;
        return int{MPI_SUCCESS};
    });
#if ASSAY_MPI41
    over<&PMPI_Request_get_status_any>(
        [](auto rest, int count, MPI_Request const* list, int* index, int* flag, MPI_Status* status) {
            if (!not_yet(count, list)) return rest(count, list, index, flag, status);
            *index = MPI_UNDEFINED;
            *flag = 0;
            return int{MPI_SUCCESS};
        });
    over<&PMPI_Request_get_status_all>(
        [](auto rest, int count, MPI_Request const* list, int* flag, MPI_Status* statuses) {
            if (!one_not_yet(count, list)) return rest(count, list, flag, statuses);
            *flag = 0;
            return int{MPI_SUCCESS};
        });
    over<&PMPI_Request_get_status_some>(
        [](auto rest, int count, MPI_Request const* list, int* done_count, int* indices, MPI_Status* statuses) {
            if (!not_yet(count, list)) return rest(count, list, done_count, indices, statuses);
            *done_count = 0;
            return int{MPI_SUCCESS};
        });
#endif
}

ODDITY(parrived_looks) {
#if ASSAY_MPI4
    follow_requests();
    over<&PMPI_Parrived>([](auto rest, MPI_Request request, int partition, int* flag) {
        if (request == MPI_REQUEST_NULL) return rest(request, partition, flag);
        {
            std::lock_guard const guard(lock);
            auto const of = partitions.find(key(request));
            if (of != partitions.end() && of->second[partition]++ < looks) {
                *flag = 0;
                return int{MPI_SUCCESS};
            }
        }
        return rest(request, partition, flag);
    });
#endif
}

ODDITY(probe_looks) {
    over<&PMPI_Iprobe>([](auto rest, int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
        MPI_Status own;
        MPI_Status* const used = status == MPI_STATUS_IGNORE ? &own : status;
        if (source != MPI_PROC_NULL && comm != MPI_COMM_NULL && nothing_yet(comm)) {
            *flag = 0;
            return int{MPI_SUCCESS};
        }
        int const code = rest(source, tag, comm, flag, used);
        if (code == MPI_SUCCESS && source != MPI_PROC_NULL) looked(comm, *flag != 0, used);
        return code;
    });
    over<&PMPI_Improbe>(
        [](auto rest, int source, int tag, MPI_Comm comm, int* flag, MPI_Message* message, MPI_Status* status) {
            MPI_Status own;
            MPI_Status* const used = status == MPI_STATUS_IGNORE ? &own : status;
            if (source != MPI_PROC_NULL && comm != MPI_COMM_NULL && nothing_yet(comm)) {
                *flag = 0;
                return int{MPI_SUCCESS};
            }
            int const code = rest(source, tag, comm, flag, message, used);
            if (code == MPI_SUCCESS && source != MPI_PROC_NULL && *flag != 0) receives(comm);
            return code;
        });
    over<&PMPI_Probe>([](auto rest, int source, int tag, MPI_Comm comm, MPI_Status* status) {
        MPI_Status own;
        MPI_Status* const used = status == MPI_STATUS_IGNORE ? &own : status;
        int const code = rest(source, tag, comm, used);
        if (code == MPI_SUCCESS && source != MPI_PROC_NULL) looked(comm, true, used);
        return code;
    });
    receiving<5, &PMPI_Recv, &PMPI_Irecv, &PMPI_Recv_init>();
    receiving<2, &PMPI_Mprobe>();
    receiving<10, &PMPI_Sendrecv>();
}

ODDITY(win_test_looks) {
    static std::map<std::size_t, int> left;
    over<&PMPI_Win_post>([](auto rest, MPI_Group group, int assertion, MPI_Win win) {
        std::lock_guard const guard(lock);
        left[key(win)] = looks;
        return rest(group, assertion, win);
    });
    over<&PMPI_Win_test>([](auto rest, MPI_Win win, int* flag) {
        {
            std::lock_guard const guard(lock);
            if (left[key(win)]-- > 0) {
                *flag = 0;
                return int{MPI_SUCCESS};
            }
        }
        return rest(win, flag);
    });
}
