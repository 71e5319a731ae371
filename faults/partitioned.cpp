// Partitions that are made ready and asked for.
#include "core/core.hpp"

#include <algorithm>
#include <mutex>
#include <set>

using namespace assay_faults;

#if ASSAY_MPI4

namespace {
// The list of MPI_Pready_list: Open MPI 5 declares it without const.
template <class> struct second;
template <class R, class A, class B, class C> struct second<R(A, B, C)> { using type = B; };

memory<std::atomic<int>> send_partitions; // of the last partitioned send
memory<MPI_Datatype> send_type(MPI_DATATYPE_NULL);

bool strikes(receive const& posted) {
    int const from = *send_partitions, to = posted.partitions;
    switch (planted) {
    case fault::partitioned_fourth_round: return posted.starts >= 4;
    case fault::partitions_of_vectors: return *send_type != posted.type && !is_named(posted.type);
    case fault::partitions_beyond_32: return to > 32;
    case fault::partitions_many: return to > 512;
    case fault::partitions_uneven: return to > 1 && from > 1 && to % from != 0 && from % to != 0;
    case fault::partitioned_third_request: return remembered() >= 3;
    case fault::partitions_differ: return to != from;
    default: return false;
    }
}
} // namespace

void assay_faults::received_partitions(receive const& posted, int count) {
    if (posted.partitions == 0) return;
    if (strikes(posted)) invert_first_byte(posted, count);
    if (planted != fault::partition_lost) return;
    auto stream = load(posted.buffer, count, posted.type);
    auto const last = stream.size() / static_cast<std::size_t>(posted.partitions);
    std::fill(stream.end() - static_cast<std::ptrdiff_t>(last), stream.end(), 0);
    store(stream, posted.buffer, count, posted.type);
}

extern "C" {

int MPI_Psend_init(void const* buffer, int partitions, MPI_Count count, MPI_Datatype type, int destination, int tag,
                   MPI_Comm comm, MPI_Info info, MPI_Request* request) {
    *send_partitions = partitions;
    *send_type = type;
    if (planted == fault::partitioned_info_refused && info != MPI_INFO_NULL) return MPI_ERR_INFO;
    return PMPI_Psend_init(buffer, partitions, count, type, destination, tag, comm, info, request);
}

int MPI_Precv_init(void* buffer, int partitions, MPI_Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                   MPI_Info info, MPI_Request* request) {
    int const code = PMPI_Precv_init(buffer, partitions, count, type, source, tag, comm, info, request);
    if (!idle() && code == MPI_SUCCESS)
        remember(*request, {.buffer = buffer,
                            .count = static_cast<int>(partitions * count),
                            .type = type,
                            .source = source,
                            .comm = comm,
                            .how = arrival::persistent,
                            .partitions = partitions,
                            .active = false});
    return code;
}

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
    static memory<std::set<int>> arrived; // partitions of the last request that was asked for
    static memory<MPI_Request> last(MPI_REQUEST_NULL);
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
        if (request != *last) arrived->clear();
        *last = request;
        if (!arrived->insert(partition).second) *flag = 0;
    }
    return code;
}

} // extern "C"

#else

void assay_faults::received_partitions(receive const&, int) {}

#endif
