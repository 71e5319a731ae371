// What the tests of this folder share. The body of a test runs in the ranks of the job and, on the other side, in the
// processes that it spawned (framework/mpi/child.hpp).
#pragma once
#include "framework/mpi/child.hpp"

namespace assay::dynamic {

axis<bool> const& roots();  // true: the last rank
axis<int> const& numbers(); // of spawned processes
axis_use few_types();
axis_use few_counts();

// The ranks that spawn: the size of the case's communicator, also for a spawned process.
int parents(test_run const& mpi);

// Whether a call that starts processes did; records what it returned otherwise. A launcher that cannot: unsupported.
bool started(test_run& mpi, int code);
// The array of error codes after a spawn of n processes, one longer than needed and poisoned before.
void check_codes(test_run& mpi, std::vector<int> const& codes, int n);
constexpr int poisoned_code = -77;

// In a spawned process: the intercommunicator to its parents, checked.
MPI_Comm to_parents(test_run& mpi);

// Looks at an intercommunicator, and sends and receives on it from everybody to everybody else on the other side.
// `side` is 0 for those that spawned or accepted, 1 for the others.
void talk(test_run& mpi, MPI_Comm link, membership const& here);

// Spawned processes tell what they found while the parents wait for it; then both sides disconnect.
void part(test_run& mpi, MPI_Comm link);
void disconnect(test_run& mpi, MPI_Comm& comm);

} // namespace assay::dynamic
