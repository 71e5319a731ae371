// What the wrappers of communicators and those of their attributes share.
#pragma once
#include "core.hpp"

namespace assay_faults {

// The attribute that was stored last.
struct stored_attribute {
    MPI_Comm comm = MPI_COMM_NULL;
    int key = 0;
    void* value = nullptr;
};
extern memory<stored_attribute> last_stored;

// The last MPI_Comm_idup, and where it puts its communicator.
struct nonblocking_duplicate {
    MPI_Comm of = MPI_COMM_NULL;
    MPI_Comm* made = nullptr;
};
extern memory<nonblocking_duplicate> last_idup;

// Which procedure a delete callback runs in.
enum class caller { other, set_attr, delete_attr, free };
extern thread_local caller within;

} // namespace assay_faults
