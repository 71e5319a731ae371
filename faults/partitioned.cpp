// Partitions that are made ready and asked for.
#include "core.hpp"

#include <map>
#include <mutex>
#include <set>

using namespace assay_faults;

#if ASSAY_MPI4

namespace {
// The list of MPI_Pready_list: Open MPI 5 declares it without const.
template <class> struct second;
template <class R, class A, class B, class C> struct second<R(A, B, C)> { using type = B; };
} // namespace

extern "C" {

int MPI_Pready_range(int low, int high, MPI_Request request) {
    if (planted == fault::pready_range_skips && high - low > 1) --high;
    return PMPI_Pready_range(low, high, request);
}

int MPI_Pready_list(int length, second<decltype(PMPI_Pready_list)>::type partitions, MPI_Request request) {
    if (planted == fault::pready_list_skips && length > 2) --length;
    if (planted == fault::pready_list_empty_refused && length == 0) return MPI_ERR_COUNT;
    return PMPI_Pready_list(length, partitions, request);
}

int MPI_Parrived(MPI_Request request, int partition, int* flag) {
    static std::mutex lock;
    static std::set<int> told; // partitions of the last request that was asked for
    static MPI_Request last = MPI_REQUEST_NULL;
    bool const inactive = is_inactive(request);
    int const code = PMPI_Parrived(request, partition, flag);
    if (planted == fault::parrived_inactive_false && inactive) *flag = 0;
    if (planted == fault::parrived_at_once) *flag = 1;
    if (planted == fault::parrived_completes && *flag != 0 && !inactive && request != MPI_REQUEST_NULL) {
        MPI_Request copy = request;
        int done = 0;
        PMPI_Test(&copy, &done, MPI_STATUS_IGNORE);
    }
    if (planted == fault::parrived_once && *flag != 0 && !inactive) {
        std::lock_guard const guard(lock);
        if (request != last) told.clear();
        last = request;
        if (!told.insert(partition).second) *flag = 0;
    }
    return code;
}

} // extern "C"

#endif
