// What several threads of a rank may meet.
#include "core/core.hpp"

using namespace assay_faults;

void assay_faults::received_in_thread(receive const& posted, MPI_Status* status, int count) {
    if (planted == fault::thread_data && !in_main_thread()) invert_first_byte(posted, count);
    if (planted == fault::thread_handover && posted.serial != 0 && pthread_equal(posted.starter, pthread_self()) == 0)
        status->MPI_TAG += 1;
    if (planted == fault::thread_message_twice) {
        static memory<std::atomic<int>> last_tag;
        int const tag = status->MPI_TAG;
        if (!in_main_thread()) status->MPI_TAG = *last_tag;
        *last_tag = tag;
    }
}

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

} // extern "C"
