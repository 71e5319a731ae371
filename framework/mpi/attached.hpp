// The buffer for buffered sends: one a process (MPI-5.0 section 3.6), shared by the threads of a case.
#pragma once
#include <cstddef>
#include <mutex>
#include <vector>

namespace assay {

class attached_buffer_t {
public:
    int attach(std::size_t bytes); // an MPI error code; nothing happens when a buffer is attached already
    // Detaches, which waits until every buffered message has left. Returns "" or what was wrong.
    char const* detach();

private:
    std::mutex mutex_;
    std::vector<unsigned char> memory_;
    bool attached_ = false;
};

attached_buffer_t& attached_buffer();

} // namespace assay
