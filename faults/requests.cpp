// Requests: how they start, complete and end.
#include "core/core.hpp"

#include <algorithm>
#include <vector>

using namespace assay_faults;

namespace {

class statuses_or_own {
public:
    statuses_or_own(MPI_Status* given, int count)
        : own_(given == MPI_STATUSES_IGNORE ? static_cast<std::size_t>(std::max(count, 1)) : 0),
          used_(given == MPI_STATUSES_IGNORE ? own_.data() : given) {}
    operator MPI_Status*() { return used_; }

private:
    std::vector<MPI_Status> own_;
    MPI_Status* used_;
};

// ---- Completion of requests

// What is known of a request before a call that may complete it, since its handle is gone afterwards.
struct pending {
    MPI_Request handle;
    bool is_receive;
    receive posted;
    bool inactive;
};

pending look_at(MPI_Request handle) {
    pending p{handle, false, {}, is_inactive(handle)};
    p.is_receive = recall(handle, p.posted);
    return p;
}

std::vector<pending> look_at(int count, MPI_Request const* requests) {
    std::vector<pending> all;
    for (int i = 0; i < count; ++i) all.push_back(look_at(requests[i]));
    return all;
}

void spoil_empty_status(MPI_Status* status) {
    if (planted == fault::status_empty_source) status->MPI_SOURCE = 0;
    if (planted == fault::status_empty_count) PMPI_Status_set_elements(status, MPI_BYTE, 1);
}

// The request is complete: `request` is the caller's handle, by now MPI_REQUEST_NULL unless it is persistent.
void complete(pending const& before, MPI_Request* request, MPI_Status* status,
              fault keeps = fault::wait_keeps_request) {
    if (before.handle == MPI_REQUEST_NULL) return spoil_empty_status(status);
    if (before.inactive) {
        if (planted == fault::inactive_status_source) status->MPI_SOURCE = 0;
        if (planted == fault::inactive_becomes_null) *request = MPI_REQUEST_NULL;
        return;
    }
    int was_cancelled = 0;
    if (planted == fault::cancel_frees_persistent) PMPI_Test_cancelled(status, &was_cancelled);
    if (was_pretended(before.handle)) PMPI_Status_set_cancelled(status, 1);
    run_completion(before.handle);
    if (before.is_receive) {
        completed(before.handle, before.posted);
        received(before.posted, status);
    } else if (status->MPI_SOURCE == MPI_PROC_NULL) {
        received({}, status);
    }
    if (planted == keeps) *request = before.handle;
    if (was_cancelled != 0) *request = MPI_REQUEST_NULL;
}

bool any_inactive(std::vector<pending> const& all) {
    return std::any_of(all.begin(), all.end(), [](pending const& p) { return p.inactive; });
}
bool any_active(std::vector<pending> const& all) {
    return std::any_of(all.begin(), all.end(),
                       [](pending const& p) { return p.handle != MPI_REQUEST_NULL && !p.inactive; });
}

// Number of requests that are complete; the first of them in `which`.
int complete_now(int count, MPI_Request const* requests, int* which) {
    int found = 0;
    for (int i = count - 1; i >= 0; --i) {
        int flag = 0;
        if (requests[i] == MPI_REQUEST_NULL || is_inactive(requests[i])) continue;
        PMPI_Request_get_status(requests[i], &flag, MPI_STATUS_IGNORE);
        if (flag) *which = i;
        found += flag;
    }
    return found;
}

void received_ignored(std::vector<pending> const& before) {
    if (planted != fault::ignored_statuses_spoil) return;
    for (auto const& p : before)
        if (p.is_receive) spoil(p.posted.buffer);
}

void complete_all(std::vector<pending> const& before, MPI_Request* requests, MPI_Status* statuses) {
    for (std::size_t i = 0; i < before.size(); ++i) complete(before[i], &requests[i], &statuses[i]);
    if (planted == fault::status_waitall_swapped && before.size() > 1) std::swap(statuses[0], statuses[1]);
    if (planted == fault::status_beyond_32)
        for (std::size_t i = 32; i < before.size(); ++i) statuses[i].MPI_TAG += 1;
    if (planted == fault::status_null_in_list && any_active(before))
        for (std::size_t i = 0; i < before.size(); ++i)
            if (before[i].handle == MPI_REQUEST_NULL) statuses[i].MPI_SOURCE = 0;
    if (planted == fault::large_overtaken)
        for (std::size_t i = 0; i + 1 < before.size(); ++i) {
            auto const &a = before[i], &b = before[i + 1];
            if (a.is_receive && b.is_receive && a.posted.type == MPI_INT && b.posted.type == MPI_INT &&
                a.posted.count == b.posted.count && statuses[i].MPI_SOURCE == statuses[i + 1].MPI_SOURCE &&
                statuses[i].MPI_TAG == statuses[i + 1].MPI_TAG && bytes_of(&statuses[i]) > 65536 &&
                bytes_of(&statuses[i + 1]) < 65536)
                return std::swap(statuses[i], statuses[i + 1]);
        }
    if (planted != fault::overtaking) return;
    for (std::size_t a = 0; a < before.size(); ++a)
        for (std::size_t b = a + 1; b < before.size(); ++b)
            if (before[a].is_receive && before[b].is_receive && before[a].posted.source == MPI_ANY_SOURCE &&
                before[b].posted.source == MPI_ANY_SOURCE && statuses[a].MPI_SOURCE == statuses[b].MPI_SOURCE &&
                statuses[a].MPI_TAG == statuses[b].MPI_TAG)
                return swap_data(before[a].posted, statuses[a], before[b].posted, statuses[b]);
}

void complete_some(std::vector<pending> const& before, MPI_Request* requests, int finished, int* indices,
                   MPI_Status* statuses) {
    if (finished == MPI_UNDEFINED) return;
    for (int k = 0; k < finished; ++k) complete(before[indices[k]], &requests[indices[k]], &statuses[k]);
    if (planted == fault::status_beyond_32)
        for (int k = 0; k < finished; ++k)
            if (indices[k] >= 32) statuses[k].MPI_TAG += 1;
    int const count = static_cast<int>(before.size());
    if (planted == fault::waitsome_index && finished > 0) indices[0] = (indices[0] + 1) % count;
}

} // namespace

int assay_faults::failed(int code) {
    int c = MPI_SUCCESS;
    if (code == MPI_SUCCESS) return code;
    PMPI_Error_class(code, &c);
    if (planted == fault::truncation_silent && c == MPI_ERR_TRUNCATE) return MPI_SUCCESS;
    if (planted == fault::truncation_class && c == MPI_ERR_TRUNCATE) return MPI_ERR_OTHER;
    if (planted == fault::err_in_status_class && c == MPI_ERR_IN_STATUS) return MPI_ERR_OTHER;
    return code;
}

extern "C" {

int MPI_Start(MPI_Request* request) {
    if (!idle()) started(*request);
    if (*late_send) {
        *late_send = false;
        *late_request = *request;
        return MPI_SUCCESS;
    }
    return PMPI_Start(request);
}

int MPI_Startall(int count, MPI_Request* requests) {
    if (planted == fault::startall_skips_last && count > 2) --count;
    if (planted == fault::startall_empty_refused && count == 0) return MPI_ERR_COUNT;
    if (!idle())
        for (int i = 0; i < count; ++i) started(requests[i]);
    return PMPI_Startall(count, requests);
}

// ---- Completing

int MPI_Wait(MPI_Request* request, MPI_Status* status) {
    if (idle()) return PMPI_Wait(request, status);
    pending const before = look_at(*request);
    status_or_own mine(status);
    if (*late_request != MPI_REQUEST_NULL && *late_request == *request) {
        *late_request = MPI_REQUEST_NULL;
        PMPI_Start(request);
    }
    int const code = PMPI_Wait(request, mine);
    if (code == MPI_SUCCESS) complete(before, request, mine);
    if (planted == fault::error_field_single && code == MPI_SUCCESS) mine->MPI_ERROR = MPI_SUCCESS;
    return failed(code);
}

int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
    if (idle()) return PMPI_Test(request, flag, status);
    pending const before = look_at(*request);
    status_or_own mine(status);
    int const code = PMPI_Test(request, flag, mine);
    if (planted == fault::test_pending_true && code == MPI_SUCCESS && !*flag && before.is_receive) {
        *flag = 1;
        return code;
    }
    if (code != MPI_SUCCESS || !*flag) return failed(code);
    complete(before, request, mine, fault::test_keeps_request);
    if (planted == fault::test_null_false && before.handle == MPI_REQUEST_NULL) *flag = 0;
    return code;
}

int MPI_Waitany(int count, MPI_Request* requests, int* index, MPI_Status* status) {
    if (idle()) return PMPI_Waitany(count, requests, index, status);
    auto const before = look_at(count, requests);
    status_or_own mine(status);
    int const code = PMPI_Waitany(count, requests, index, mine);
    if (code != MPI_SUCCESS) return failed(code);
    if (*index == MPI_UNDEFINED) {
        spoil_empty_status(mine);
        if (planted == fault::inactive_index && any_inactive(before)) *index = 0;
        return code;
    }
    complete(before[*index], &requests[*index], mine);
    if (planted == fault::waitany_index) *index = (*index + 1) % count;
    return code;
}

int MPI_Testany(int count, MPI_Request* requests, int* index, int* flag, MPI_Status* status) {
    if (idle()) return PMPI_Testany(count, requests, index, flag, status);
    auto const before = look_at(count, requests);
    status_or_own mine(status);
    int const code = PMPI_Testany(count, requests, index, flag, mine);
    if (planted == fault::testany_index_pending && code == MPI_SUCCESS && !*flag) *index = 0;
    if (planted == fault::inactive_flag_false && *index == MPI_UNDEFINED && any_inactive(before)) *flag = 0;
    if (code != MPI_SUCCESS || !*flag) return failed(code);
    if (*index == MPI_UNDEFINED) spoil_empty_status(mine);
    else complete(before[*index], &requests[*index], mine, fault::test_keeps_request);
    return code;
}

int MPI_Waitall(int count, MPI_Request* requests, MPI_Status* statuses) {
    if (idle()) return PMPI_Waitall(count, requests, statuses);
    auto const before = look_at(count, requests);
    statuses_or_own mine(statuses, count);
    int const code = PMPI_Waitall(count, requests, mine);
    if (code == MPI_SUCCESS) complete_all(before, requests, mine);
    // What stands after the array need not be a request, nor memory that can be read.
    receive other;
    if (MPI_Request next = MPI_REQUEST_NULL; planted == fault::waitall_writes_behind &&
                                             statuses != MPI_STATUSES_IGNORE &&
                                             read_bytes(requests + count, &next, sizeof(MPI_Request)) &&
                                             recall(next, other) && other.how == arrival::persistent)
        statuses[count].MPI_TAG = 1;
    if (statuses == MPI_STATUSES_IGNORE) received_ignored(before);
    return failed(code);
}

int MPI_Testall(int count, MPI_Request* requests, int* flag, MPI_Status* statuses) {
    if (idle()) return PMPI_Testall(count, requests, flag, statuses);
    auto const before = look_at(count, requests);
    statuses_or_own mine(statuses, count);
    int const code = PMPI_Testall(count, requests, flag, mine);
    if (code == MPI_SUCCESS && *flag) complete_all(before, requests, mine);
    if (code == MPI_SUCCESS && *flag && planted == fault::error_field_list && statuses != MPI_STATUSES_IGNORE)
        for (int i = 0; i < count; ++i) statuses[i].MPI_ERROR = MPI_SUCCESS;
    bool const persistent = std::any_of(before.begin(), before.end(), [](pending const& p) {
        return p.is_receive && p.posted.how == arrival::persistent;
    });
    if (planted == fault::testall_refuses && persistent) return MPI_ERR_OTHER;
    int error = MPI_SUCCESS;
    if (planted == fault::testall_hides_truncation && code != MPI_SUCCESS && persistent &&
        PMPI_Error_class(code, &error) == MPI_SUCCESS && error == MPI_ERR_IN_STATUS) {
        *flag = 1;
        return MPI_SUCCESS;
    }
    int which = 0;
    if (planted == fault::testall_any && code == MPI_SUCCESS && !*flag && complete_now(count, requests, &which) > 0)
        *flag = 1;
    return failed(code);
}

int MPI_Waitsome(int count, MPI_Request* requests, int* finished, int* indices, MPI_Status* statuses) {
    if (idle()) return PMPI_Waitsome(count, requests, finished, indices, statuses);
    auto const before = look_at(count, requests);
    statuses_or_own mine(statuses, count);
    int const code = PMPI_Waitsome(count, requests, finished, indices, mine);
    if (code == MPI_SUCCESS) complete_some(before, requests, *finished, indices, mine);
    if (planted == fault::inactive_outcount && *finished == MPI_UNDEFINED && any_inactive(before)) *finished = 0;
    return failed(code);
}

int MPI_Testsome(int count, MPI_Request* requests, int* finished, int* indices, MPI_Status* statuses) {
    if (idle()) return PMPI_Testsome(count, requests, finished, indices, statuses);
    auto const before = look_at(count, requests);
    statuses_or_own mine(statuses, count);
    int const code = PMPI_Testsome(count, requests, finished, indices, mine);
    if (code != MPI_SUCCESS) return failed(code);
    complete_some(before, requests, *finished, indices, mine);
    if (planted == fault::inactive_outcount && *finished == MPI_UNDEFINED && any_inactive(before)) *finished = 0;
    if (planted == fault::testsome_pending_one && *finished == 0) {
        *finished = 1;
        indices[0] = 0;
    }
    if (planted == fault::testsome_outcount && *finished > 0 && *finished < count) {
        indices[*finished] = indices[0];
        mine[*finished] = mine[0];
        ++*finished;
    }
    return code;
}

int MPI_Request_free(MPI_Request* request) {
    if (idle()) return PMPI_Request_free(request);
    MPI_Request const before = *request;
    forget(before);
    if (auto* const sent = buffer_of_send(before); planted == fault::request_free_spoils && sent != nullptr)
        spoil(sent);
    int const code = PMPI_Request_free(request);
    if (planted == fault::request_free_keeps) *request = before;
    return code;
}

int MPI_Request_get_status(MPI_Request request, int* flag, MPI_Status* status) {
    if (idle()) return PMPI_Request_get_status(request, flag, status);
    status_or_own mine(status);
    int const code = PMPI_Request_get_status(request, flag, mine);
    if (request == MPI_REQUEST_NULL) spoil_empty_status(mine);
    if (code != MPI_SUCCESS) return code;
    if (planted == fault::get_status_pending_true) *flag = 1;
    static memory<MPI_Request> last(MPI_REQUEST_NULL);
    if (planted == fault::get_status_twice && *flag && request == *last && request != MPI_REQUEST_NULL)
        mine->MPI_TAG += 1;
    if (*flag) *last = request;
    if (planted == fault::get_status_inactive_source && is_inactive(request)) mine->MPI_SOURCE = 0;
    return code;
}

int MPI_Cancel(MPI_Request* request) {
    receive posted;
    if (planted == fault::cancel_ignored) return MPI_SUCCESS;
    if (planted == fault::cancel_complete_succeeds) {
        int flag = 0;
        PMPI_Request_get_status(*request, &flag, MPI_STATUS_IGNORE);
        if (flag) pretend_cancelled(*request);
    }
    if (planted == fault::cancel_lies && !recall(*request, posted)) {
        pretend_cancelled(*request);
        return MPI_SUCCESS;
    }
    return PMPI_Cancel(request);
}

} // extern "C"
