#include "framework/mpi/subject.hpp"

#include <mpi.h>

namespace assay {
namespace {

void* allocate(std::size_t size) {
    void* base = nullptr;
    return MPI_Alloc_mem(static_cast<MPI_Aint>(size), MPI_INFO_NULL, &base) == MPI_SUCCESS ? base : nullptr;
}

void release(void* memory) { MPI_Free_mem(memory); }

} // namespace

subject const& mpi_library() {
    static constexpr subject library{mpi_library_has, allocate, release, profiles_of_mpi, procedures_of_mpi};
    return library;
}

} // namespace assay
