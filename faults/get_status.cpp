// Calls that ask for the status of several requests, and those that read and write a status.
#include "core/core.hpp"

#include <algorithm>
#include <vector>

using namespace assay_faults;

#if ASSAY_MPI41

namespace {
bool is_active(MPI_Request request) { return request != MPI_REQUEST_NULL && !is_inactive(request); }
} // namespace

extern "C" {

int MPI_Request_get_status_any(int count, MPI_Request const requests[], int* index, int* flag, MPI_Status* status) {
    if (planted == fault::get_status_any_completes && std::any_of(requests, requests + count, is_active)) {
        std::vector<MPI_Request> copy(requests, requests + count);
        return PMPI_Testany(count, copy.data(), index, flag, status);
    }
    int const code = PMPI_Request_get_status_any(count, requests, index, flag, status);
    if (planted == fault::get_status_any_index && *flag && *index != MPI_UNDEFINED) *index = (*index + 1) % count;
    if (planted == fault::get_status_any_pending && !*flag) *index = 0;
    if (planted == fault::get_status_any_nothing && *flag && *index == MPI_UNDEFINED) *flag = 0;
    return code;
}

int MPI_Request_get_status_all(int count, MPI_Request const requests[], int* flag, MPI_Status statuses[]) {
    int const code = PMPI_Request_get_status_all(count, requests, flag, statuses);
    if (statuses == MPI_STATUSES_IGNORE) return planted == fault::get_status_ignore_refused ? MPI_ERR_ARG : code;
    if (planted == fault::get_status_all_null && *flag)
        for (int i = 0; i < count; ++i)
            if (requests[i] == MPI_REQUEST_NULL) statuses[i].MPI_SOURCE = 0;
    if (planted == fault::get_status_all_inactive && *flag)
        for (int i = 0; i < count; ++i)
            if (is_inactive(requests[i])) statuses[i].MPI_TAG = 0;
    for (int i = 0; planted == fault::get_status_all_any && !*flag && i < count; ++i)
        if (is_active(requests[i])) PMPI_Request_get_status(requests[i], flag, &statuses[i]);
    return code;
}

int MPI_Request_get_status_some(int count, MPI_Request const requests[], int* finished, int indices[],
                                MPI_Status statuses[]) {
    int const code = PMPI_Request_get_status_some(count, requests, finished, indices, statuses);
    if (planted == fault::get_status_some_nothing && *finished == MPI_UNDEFINED) *finished = 0;
    if (planted == fault::get_status_some_index && *finished > 0) indices[0] = (indices[0] + 1) % count;
    if (planted == fault::get_status_some_statuses && *finished > 1 && statuses != MPI_STATUSES_IGNORE)
        std::swap(statuses[0], statuses[1]);
    return code;
}

int MPI_Status_get_source(MPI_Status const* status, int* source) {
    int const code = PMPI_Status_get_source(status, source);
    if (planted == fault::status_get_source_plus_one) ++*source;
    return code;
}
int MPI_Status_get_tag(MPI_Status const* status, int* tag) {
    int const code = PMPI_Status_get_tag(status, tag);
    if (planted == fault::status_get_tag_plus_one) ++*tag;
    return code;
}
int MPI_Status_get_error(MPI_Status const* status, int* error) {
    int const code = PMPI_Status_get_error(status, error);
    if (planted == fault::status_get_error_success) *error = MPI_SUCCESS;
    return code;
}

} // extern "C"

#endif
