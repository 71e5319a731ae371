// Which of several requests are completed, and what is left in statuses and lists.
#include "layers.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <vector>

using namespace assay_oddities;

namespace {

std::mutex lock;

// A list of requests the other way round; what a call did to its entries is copied back.
class reversed {
public:
    reversed(int count, MPI_Request* list) : list_(list), turned_(static_cast<std::size_t>(std::max(count, 0))) {
        std::reverse_copy(list_, list_ + turned_.size(), turned_.begin());
    }
    ~reversed() { std::reverse_copy(turned_.begin(), turned_.end(), list_); }
    reversed(reversed const&) = delete;
    reversed& operator=(reversed const&) = delete;
    MPI_Request* data() { return turned_.data(); }
    void turn(int& index) const {
        if (index != MPI_UNDEFINED) index = static_cast<int>(turned_.size()) - 1 - index;
    }

private:
    MPI_Request* list_;
    std::vector<MPI_Request> turned_;
};

bool nothing_to_turn(int count, MPI_Request const* list) { return count <= 1 || list == nullptr; }

void overwrite(MPI_Status* first, int count) {
    if (count > 0) std::memset(static_cast<void*>(first), 0x6b, sizeof(MPI_Status) * static_cast<std::size_t>(count));
}
void overwrite_one(MPI_Status* status) {
    if (status != MPI_STATUS_IGNORE) overwrite(status, 1);
}

// Beyond what a call that completes some requests has returned.
void overwrite_rest(int count, int done, int* indices, MPI_Status* statuses) {
    int const first = done == MPI_UNDEFINED ? 0 : done;
    for (int i = first; i < count; ++i) indices[i] = 1 << 20;
    if (statuses != MPI_STATUSES_IGNORE) overwrite(statuses + first, count - first);
}

// ---- Sends

std::set<std::size_t> sends; // handles of active sends, and of persistent ones
std::set<std::size_t> persistent_sends;

// Asked before the requests complete: afterwards another thread may have a request with the same handle.
std::vector<bool> which_are_sends(std::vector<MPI_Request> const& list) {
    std::lock_guard const guard(lock);
    std::vector<bool> found;
    for (auto const request : list) found.push_back(request != MPI_REQUEST_NULL && sends.contains(key(request)));
    return found;
}

void forget_completed(std::vector<MPI_Request> const& before, MPI_Request const* now) {
    std::lock_guard const guard(lock);
    for (std::size_t i = 0; i < before.size(); ++i)
        if (before[i] != MPI_REQUEST_NULL && now[i] == MPI_REQUEST_NULL) sends.erase(key(before[i]));
}

// An inactive request has an empty status, not that of a send.
bool is_empty(MPI_Status const& status) { return status.MPI_SOURCE == MPI_ANY_SOURCE && status.MPI_TAG == MPI_ANY_TAG; }

void spoil(MPI_Status* status) {
    if (status == MPI_STATUS_IGNORE || is_empty(*status)) return;
    int cancelled = 0;
    PMPI_Test_cancelled(status, &cancelled);
    status->MPI_SOURCE = 123456;
    status->MPI_TAG = 654321;
    PMPI_Status_set_elements(status, MPI_BYTE, 11);
    PMPI_Status_set_cancelled(status, cancelled);
}

void remember(MPI_Request request, bool is_send, bool persistent) {
    std::lock_guard const guard(lock);
    if (is_send) sends.insert(key(request));
    else sends.erase(key(request));
    if (is_send && persistent) persistent_sends.insert(key(request));
    else persistent_sends.erase(key(request));
}

template <bool Send, bool Persistent, auto... P> void makers() {
    auto const one = []<auto Q>() {
        over<Q>([](auto rest, auto... a) {
            int const code = rest(a...);
            if (code == MPI_SUCCESS) remember(*std::get<sizeof...(a) - 1>(std::tie(a...)), Send, Persistent);
            return code;
        });
    };
    (one.template operator()<P>(), ...);
}

std::vector<MPI_Request> copy_of(int count, MPI_Request const* list) {
    return count > 0 && list != nullptr ? std::vector<MPI_Request>(list, list + count) : std::vector<MPI_Request>();
}

// Calls what completes some of these requests. `done(are_sends)` may then look at the statuses.
template <class Call, class Done> int completing(int count, MPI_Request* list, Call call, Done done) {
    auto const before = copy_of(count, list);
    auto const are_sends = which_are_sends(before);
    int const code = call();
    if (code == MPI_SUCCESS) done(are_sends);
    forget_completed(before, list);
    return code;
}

} // namespace

ODDITY(last_first) {
    over<&PMPI_Waitany>([](auto rest, int count, MPI_Request* list, int* index, MPI_Status* status) {
        if (nothing_to_turn(count, list)) return rest(count, list, index, status);
        reversed turned(count, list);
        int const code = rest(count, turned.data(), index, status);
        turned.turn(*index);
        return code;
    });
    over<&PMPI_Testany>([](auto rest, int count, MPI_Request* list, int* index, int* flag, MPI_Status* status) {
        if (nothing_to_turn(count, list)) return rest(count, list, index, flag, status);
        reversed turned(count, list);
        int const code = rest(count, turned.data(), index, flag, status);
        if (*flag != 0) turned.turn(*index);
        return code;
    });
    auto const some = [](auto rest, int count, MPI_Request* list, int* done, int* indices, MPI_Status* statuses) {
        if (nothing_to_turn(count, list)) return rest(count, list, done, indices, statuses);
        reversed turned(count, list);
        int const code = rest(count, turned.data(), done, indices, statuses);
        for (int k = 0; k < *done && k < count; ++k) turned.turn(indices[k]);
        return code;
    };
    over<&PMPI_Waitsome>(some);
    over<&PMPI_Testsome>(some);
}

ODDITY(one_at_a_time) {
    // Those that MPI_Request_get_status has said to be complete, and those that the caller has completed.
    static std::set<std::size_t> known;
    static auto const is_known = [](int count, MPI_Request const* list) {
        std::lock_guard const guard(lock);
        return std::any_of(list, list + std::max(count, 0), [](auto r) { return known.contains(key(r)); });
    };
    static auto const forget = [](std::vector<MPI_Request> const& before) {
        std::lock_guard const guard(lock);
        for (auto const request : before) known.erase(key(request));
    };
    static auto const remember_known = [](MPI_Request request) {
        std::lock_guard const guard(lock);
        if (request != MPI_REQUEST_NULL) known.insert(key(request));
    };
    over<&PMPI_Grequest_complete>([](auto rest, MPI_Request request) {
        remember_known(request);
        return rest(request);
    });
    over<&PMPI_Request_get_status>([](auto rest, MPI_Request request, int* flag, MPI_Status* status) {
        int const code = rest(request, flag, status);
        if (*flag != 0) remember_known(request);
        return code;
    });
#if ASSAY_MPI41
    over<&PMPI_Request_get_status_all>(
        [](auto rest, int count, MPI_Request const* list, int* flag, MPI_Status* statuses) {
            int const code = rest(count, list, flag, statuses);
            for (int i = 0; *flag != 0 && i < count; ++i) remember_known(list[i]);
            return code;
        });
    over<&PMPI_Request_get_status_any>(
        [](auto rest, int count, MPI_Request const* list, int* index, int* flag, MPI_Status* status) {
            int const code = rest(count, list, index, flag, status);
            if (*flag != 0 && *index >= 0 && *index < count) remember_known(list[*index]);
            return code;
        });
    over<&PMPI_Request_get_status_some>(
        [](auto rest, int count, MPI_Request const* list, int* done, int* indices, MPI_Status* statuses) {
            int const code = rest(count, list, done, indices, statuses);
            for (int k = 0; k < *done && k < count; ++k) remember_known(list[indices[k]]);
            return code;
        });
#endif
    // One request after the other; `wait`: again and again until one of them is complete.
    static auto const one = [](auto rest, bool wait, int count, MPI_Request* list, int* done, int* indices,
                               MPI_Status* statuses) {
        auto const before = copy_of(count, list);
        if (nothing_to_turn(count, list) || is_known(count, list)) {
            int const code = rest(count, list, done, indices, statuses);
            forget(before);
            return code;
        }
        MPI_Status const first = statuses != MPI_STATUSES_IGNORE ? statuses[0] : MPI_Status{};
        do {
            bool active = false;
            for (int i = 0; i < count; ++i) {
                if (list[i] == MPI_REQUEST_NULL) continue;
                int const code = MPI_Testsome(1, &list[i], done, indices, statuses);
                active = active || *done != MPI_UNDEFINED;
                if (code == MPI_SUCCESS && (*done == MPI_UNDEFINED || *done == 0)) {
                    // The call that completes a request leaves MPI_ERROR as the caller had it.
                    if (statuses != MPI_STATUSES_IGNORE) statuses[0] = first;
                    continue;
                }
                indices[0] = i;
                return code;
            }
            *done = active ? 0 : MPI_UNDEFINED;
            if (!active) break;
        } while (wait);
        return int{MPI_SUCCESS};
    };
    over<&PMPI_Testsome>([](auto rest, auto... a) { return one(rest, false, a...); });
    over<&PMPI_Waitsome>([](auto rest, auto... a) { return one(rest, true, a...); });
}

ODDITY(waitall_reversed) {
    static auto const all = [](int count, MPI_Request* list, MPI_Status* statuses, auto call) {
        if (nothing_to_turn(count, list)) return call(list);
        reversed turned(count, list);
        int const code = call(turned.data());
        if (statuses != MPI_STATUSES_IGNORE) std::reverse(statuses, statuses + count);
        return code;
    };
    over<&PMPI_Waitall>([](auto rest, int count, MPI_Request* list, MPI_Status* statuses) {
        return all(count, list, statuses, [&](MPI_Request* turned) { return rest(count, turned, statuses); });
    });
    over<&PMPI_Testall>([](auto rest, int count, MPI_Request* list, int* flag, MPI_Status* statuses) {
        return all(count, list, statuses, [&](MPI_Request* turned) { return rest(count, turned, flag, statuses); });
    });
}

ODDITY(startall_reversed) {
    over<&PMPI_Startall>([](auto rest, int count, MPI_Request* list) {
        if (nothing_to_turn(count, list)) return rest(count, list);
        reversed turned(count, list);
        return rest(count, turned.data());
    });
}

ODDITY(pending_statuses_overwritten) {
    auto const one = [](auto rest, auto... a) {
        int const code = rest(a...);
        auto const all = std::tie(a...);
        if (code == MPI_SUCCESS && *std::get<sizeof...(a) - 2>(all) == 0)
            overwrite_one(std::get<sizeof...(a) - 1>(all));
        return code;
    };
    over<&PMPI_Test>(one);
    over<&PMPI_Testany>(one);
    over<&PMPI_Iprobe>(one);
    over<&PMPI_Request_get_status>(one);
    over<&PMPI_Improbe>(
        [](auto rest, int source, int tag, MPI_Comm comm, int* flag, MPI_Message* message, MPI_Status* status) {
            int const code = rest(source, tag, comm, flag, message, status);
            if (code == MPI_SUCCESS && *flag == 0) overwrite_one(status);
            return code;
        });
    auto const all = [](auto rest, int count, auto* list, int* flag, MPI_Status* statuses) {
        int const code = rest(count, list, flag, statuses);
        if (code == MPI_SUCCESS && *flag == 0 && statuses != MPI_STATUSES_IGNORE) overwrite(statuses, count);
        return code;
    };
    over<&PMPI_Testall>(all);
#if ASSAY_MPI41
    over<&PMPI_Request_get_status_all>(all);
    over<&PMPI_Request_get_status_any>(one);
#endif
}

ODDITY(rest_of_lists_overwritten) {
    auto const some = [](auto rest, int count, auto* list, int* done, int* indices, MPI_Status* statuses) {
        int const code = rest(count, list, done, indices, statuses);
        if (code == MPI_SUCCESS) overwrite_rest(count, *done, indices, statuses);
        return code;
    };
    over<&PMPI_Waitsome>(some);
    over<&PMPI_Testsome>(some);
#if ASSAY_MPI41
    over<&PMPI_Request_get_status_some>(some);
#endif
}

ODDITY(send_statuses_undefined) {
    makers<true, false, &PMPI_Isend, &PMPI_Ibsend, &PMPI_Issend, &PMPI_Irsend>();
    makers<true, true, &PMPI_Send_init, &PMPI_Bsend_init, &PMPI_Ssend_init, &PMPI_Rsend_init>();
    makers<false, false, &PMPI_Irecv, &PMPI_Imrecv, &PMPI_Recv_init>();
#if MPI_VERSION >= 4
    makers<true, false, &PMPI_Isend_c, &PMPI_Ibsend_c, &PMPI_Issend_c, &PMPI_Irsend_c>();
    makers<true, true, &PMPI_Send_init_c, &PMPI_Bsend_init_c, &PMPI_Ssend_init_c, &PMPI_Rsend_init_c>();
    makers<false, false, &PMPI_Irecv_c, &PMPI_Imrecv_c, &PMPI_Recv_init_c>();
#endif
    over<&PMPI_Request_free>([](auto rest, MPI_Request* request) {
        remember(*request, false, false);
        return rest(request);
    });
    over<&PMPI_Wait>([](auto rest, MPI_Request* request, MPI_Status* status) {
        return completing(
            1, request, [&] { return rest(request, status); },
            [&](auto const& are_sends) {
                if (are_sends[0]) spoil(status);
            });
    });
    over<&PMPI_Test>([](auto rest, MPI_Request* request, int* flag, MPI_Status* status) {
        return completing(
            1, request, [&] { return rest(request, flag, status); },
            [&](auto const& are_sends) {
                if (*flag != 0 && are_sends[0]) spoil(status);
            });
    });
    over<&PMPI_Waitall>([](auto rest, int count, MPI_Request* list, MPI_Status* statuses) {
        return completing(
            count, list, [&] { return rest(count, list, statuses); },
            [&](auto const& are_sends) {
                for (std::size_t i = 0; statuses != MPI_STATUSES_IGNORE && i < are_sends.size(); ++i)
                    if (are_sends[i]) spoil(&statuses[i]);
            });
    });
    over<&PMPI_Waitany>([](auto rest, int count, MPI_Request* list, int* index, MPI_Status* status) {
        return completing(
            count, list, [&] { return rest(count, list, index, status); },
            [&](auto const& are_sends) {
                if (*index != MPI_UNDEFINED && are_sends[static_cast<std::size_t>(*index)]) spoil(status);
            });
    });
    auto const others = [](auto rest, int count, MPI_Request* list, auto... a) {
        return completing(
            count, list, [&] { return rest(count, list, a...); }, [](auto const&) {});
    };
    over<&PMPI_Testall>(others);
    over<&PMPI_Testany>(others);
    over<&PMPI_Waitsome>(others);
    over<&PMPI_Testsome>(others);
}
