#include "framework/mpi/attached.hpp"

#include <mpi.h>

namespace assay {

attached_buffer_t& attached_buffer() {
    static attached_buffer_t buffer;
    return buffer;
}

int attached_buffer_t::attach(std::size_t bytes) {
    std::lock_guard const lock(mutex_);
    if (attached_) return MPI_SUCCESS;
    if (memory_.size() < bytes) memory_.resize(bytes);
    int const code = MPI_Buffer_attach(memory_.data(), static_cast<int>(memory_.size()));
    attached_ = code == MPI_SUCCESS;
    return code;
}

char const* attached_buffer_t::detach() {
    if (!attached_) return "";
    attached_ = false;
    void* address = nullptr;
    int size = -1;
    if (MPI_Buffer_detach(&address, &size) != MPI_SUCCESS) return "MPI_Buffer_detach did not return MPI_SUCCESS";
    if (address != memory_.data()) return "MPI_Buffer_detach did not give back the address that was attached";
    if (size != static_cast<int>(memory_.size()))
        return "MPI_Buffer_detach did not give back the size that was attached";
    return "";
}

} // namespace assay
