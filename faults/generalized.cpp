// Generalized requests, and statuses that a program writes itself. Callbacks of ours stand between the library and those
// of the program.
#include "core/core.hpp"

using namespace assay_faults;

namespace {

// What the program gave to MPI_Grequest_start.
struct original {
    MPI_Grequest_query_function* query;
    MPI_Grequest_free_function* release;
    MPI_Grequest_cancel_function* cancel;
    void* extra;
    int queries = 0;
    bool released = false; // free_fn ran already
};
memory<void*> first_extra; // that of the request that was started before this one
memory<original*> newest;

int code_of(int code, fault loses) {
    if (planted == loses) return MPI_SUCCESS;
    return planted == fault::grequest_error_class && code != MPI_SUCCESS ? MPI_ERR_OTHER : code;
}

int query(void* extra, MPI_Status* status) {
    auto& mine = *static_cast<original*>(extra);
    ++mine.queries;
    MPI_Status other = *status;
    switch (planted) {
    case fault::grequest_query_skipped: return MPI_SUCCESS;
    case fault::grequest_query_status_lost: return mine.query(mine.extra, &other);
    case fault::grequest_query_no_status: return mine.query(mine.extra, nullptr);
    case fault::grequest_free_before_query:
        mine.released = true;
        mine.release(mine.extra);
        break;
    default: break;
    }
    int const code = mine.query(mine.extra, status);
    if (planted == fault::grequest_second_query_count && mine.queries == 2)
        PMPI_Status_set_elements(status, MPI_INT, 1000);
    if (planted == fault::grequest_cancelled_lost) PMPI_Status_set_cancelled(status, 0);
    return code_of(code, fault::grequest_query_error_lost);
}

int release(void* extra) {
    auto* const mine = static_cast<original*>(extra);
    if (*newest == mine) *newest = nullptr;
    int code = MPI_SUCCESS;
    bool const skipped = planted == fault::grequest_free_skipped || mine->released ||
                         (planted == fault::grequest_free_skipped_unqueried && mine->queries == 0);
    if (!skipped) code = mine->release(mine->extra);
    if (planted == fault::grequest_free_twice) mine->release(mine->extra);
    delete mine;
    return code_of(code, fault::grequest_free_error_lost);
}

int cancel(void* extra, int complete) {
    auto& mine = *static_cast<original*>(extra);
    if (planted == fault::grequest_cancel_skipped) return MPI_SUCCESS;
    if (planted == fault::grequest_cancel_told_false) complete = 0;
    if (planted == fault::grequest_cancel_told_true) complete = 1;
    return code_of(mine.cancel(mine.extra, complete), fault::grequest_cancel_error_lost);
}

} // namespace

extern "C" {

int MPI_Grequest_start(MPI_Grequest_query_function* query_fn, MPI_Grequest_free_function* free_fn,
                       MPI_Grequest_cancel_function* cancel_fn, void* extra, MPI_Request* request) {
    if (planted == fault::unset) return PMPI_Grequest_start(query_fn, free_fn, cancel_fn, extra, request);
    if (planted == fault::grequest_extra_state_of_other && *newest != nullptr) extra = *first_extra;
    auto* const mine = new original{query_fn, free_fn, cancel_fn, extra};
    *first_extra = extra;
    *newest = mine;
    int const code = PMPI_Grequest_start(query, release, cancel, mine, request);
    if (planted == fault::grequest_complete_at_start) PMPI_Grequest_complete(*request);
    return code;
}

int MPI_Grequest_complete(MPI_Request request) {
    if (planted == fault::grequest_complete_at_start) return MPI_SUCCESS;
    if (planted == fault::grequest_complete_lost_in_thread && !in_main_thread()) return MPI_SUCCESS;
    if (planted == fault::grequest_query_at_complete && *newest != nullptr) {
        MPI_Status status;
        (*newest)->query((*newest)->extra, &status);
    }
    return PMPI_Grequest_complete(request);
}

#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
int MPI_Status_set_source(MPI_Status* status, int source) {
    int const code = PMPI_Status_set_source(status, source);
    if (planted == fault::status_set_source_sets_tag) PMPI_Status_set_tag(status, source);
    return code;
}

int MPI_Status_set_tag(MPI_Status* status, int tag) {
    int const code = PMPI_Status_set_tag(status, tag);
    if (planted == fault::status_set_tag_count) PMPI_Status_set_elements(status, MPI_INT, 0);
    return code;
}

int MPI_Status_set_error(MPI_Status* status, int error) {
    return PMPI_Status_set_error(status, planted == fault::status_set_error_class && error > 1 ? MPI_ERR_OTHER : error);
}
#endif

int MPI_Win_free_keyval(int* keyval) {
    int const before = *keyval;
    int const code = PMPI_Win_free_keyval(keyval);
    if (planted == fault::win_free_keyval_keeps) *keyval = before;
    return code;
}

} // extern "C"
