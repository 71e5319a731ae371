// What the tests of this folder share: how many threads, and whether they share a communicator.
#pragma once
#include "framework/mpi/run.hpp"

namespace assay::threads {

constexpr int most = 4;

axis<int> const& numbers();  // of threads in each rank, that which called MPI_Init_thread included
axis<bool> const& sharing(); // true: a communicator for each thread; false: one for all, and tags tell them apart

// Threads race in the library, wherever the datatype and the communicator come from: all datatypes on MPI_COMM_WORLD, and
// a few on the other communicators.
constraint few_types_elsewhere();

} // namespace assay::threads
