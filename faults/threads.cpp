// What several threads of a rank may meet.
#include "core.hpp"

using namespace assay_faults;

extern "C" {

int MPI_Query_thread(int* provided) {
    int const code = PMPI_Query_thread(provided);
    if (planted == fault::thread_query && !in_main_thread()) *provided = MPI_THREAD_FUNNELED;
    return code;
}

int MPI_Is_thread_main(int* flag) {
    int const code = PMPI_Is_thread_main(flag);
    if (planted == fault::thread_main) *flag = 1;
    return code;
}

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* copy) {
    if (planted != fault::thread_comm_dup || in_main_thread()) {
        static std::atomic<int> calls;
        if (planted == fault::comm_dup_wears_out && ++calls > 60) return MPI_ERR_OTHER;
        int const code = PMPI_Comm_dup(comm, copy);
        if (code == MPI_SUCCESS) {
            duplicated(comm, copy);
            if (planted == fault::contexts_swapped) remember_duplicate(comm, *copy);
            if (planted == fault::dup_forgets_handler) PMPI_Comm_set_errhandler(*copy, MPI_ERRORS_RETURN);
        }
        return code;
    }
    int rank = 0;
    PMPI_Comm_rank(comm, &rank);
    return PMPI_Comm_split(comm, 0, -rank, copy);
}

#if ASSAY_MPI4
int MPI_Psend_init(void const* buffer, int partitions, MPI_Count count, MPI_Datatype type, int destination, int tag,
                   MPI_Comm comm, MPI_Info info, MPI_Request* request) {
    send_partitions = partitions;
    if (planted == fault::partitions_of_vectors) send_type = type;
    if (planted == fault::partitioned_info_refused && info != MPI_INFO_NULL) return MPI_ERR_INFO;
    return PMPI_Psend_init(buffer, partitions, count, type, destination, tag, comm, info, request);
}
#endif

} // extern "C"
