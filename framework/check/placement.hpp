// Where a buffer lies in memory.
#pragma once

namespace assay {

enum class placement {
    heap,      // guards on both sides, aligned to 64 bytes
    page_end,  // ends at a page that cannot be touched
    unaligned, // as badly aligned as the datatype's alignment permits
    alloc_mem, // from MPI_Alloc_mem (MPI-5.0 section 9.2), guards on both sides
};

} // namespace assay
