// The procedures that complete requests, or say whether they are complete (MPI-5.0 sections 3.7.3, 3.7.5 and 3.7.6): one axis,
// and one way to call each of them.
#pragma once
#include "framework/mpi/run.hpp"

#include <span>
#include <vector>

namespace assay::p2p {

enum class call {
    wait,
    test,
    waitall,
    testall,
    waitany,
    testany,
    waitsome,
    testsome,
    get_status,
    get_status_all,
    get_status_any,
    get_status_some
};
axis<call> const& completion_calls(); // "call"

bool is_single(call c);
bool is_all(call c);
bool is_any(call c);
bool waits(call c);
bool since_41(call c);
bool since_31(call c);
bool only_looks(call c); // completes nothing: MPI_Request_get_status and its like

// What one call said, every output poisoned before.
struct answer {
    call asked = call::wait;
    int code = MPI_SUCCESS;
    int flag = -7;                    // true from calls that wait
    int index = -7;                   // of the calls for any
    int outcount = -7;                // of the calls for some
    std::vector<int> indices;         // one more than there are requests
    std::vector<MPI_Status> statuses; // one of the single calls and those for any
    // The indices of those that are complete, in the order of `statuses`, as they were given: they may be wrong.
    std::vector<int> finished() const;
};

// `ignore`: without statuses.
answer ask(call c, std::span<MPI_Request> requests, bool ignore = false);

// The answer to a list of this length without an active request.
void expect_nothing_active(test_run& mpi, answer const& a, std::size_t length);

} // namespace assay::p2p
