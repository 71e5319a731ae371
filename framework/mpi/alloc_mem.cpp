#include "framework/check/buffer.hpp"

#include <mpi.h>

#include "mpi_calls.hpp"

namespace assay {

void* memory_of_library(std::size_t size) {
    void* base = nullptr;
    return MPI_Alloc_mem(static_cast<MPI_Aint>(size), MPI_INFO_NULL, &base) == MPI_SUCCESS ? base : nullptr;
}

void give_to_library(void* memory) { MPI_Free_mem(memory); }

} // namespace assay
