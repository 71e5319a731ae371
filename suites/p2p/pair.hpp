// What tests of single calls share: whom this process sends to and receives from, small messages of ints whose values
// every rank can compute, and words that say that somebody got to a certain point.
#pragma once
#include "framework/mpi/run.hpp"
#include "suites/common/polling.hpp"

#include <vector>

namespace assay::p2p {

// A ring on an intracommunicator, the process of the same rank on an intercommunicator.
struct pair {
    int to = 0, from = 0;
    bool idle = false; // the larger group's last ranks have no partner
};
pair pair_of(test_run const& mpi);

// Communicators for tests of calls and objects, for which it does not matter how the communicator was made.

// An empty message against the direction of the pair: returns when the process that this one sends to has got here. The
// word uses tag(15); it must not meet a receive with MPI_ANY_TAG.
void await_receiver(test_run& mpi, pair const& p, std::source_location where = std::source_location::current());
void await_sender(test_run& mpi, pair const& p, std::source_location where = std::source_location::current());

constexpr int poison_int = static_cast<int>(0xa5a5a5a5);

// `n` ints that nobody else sends; all poison for the receiving side.
std::vector<int> message(std::uint64_t key, std::size_t n);
inline std::vector<int> room(std::size_t n) { return std::vector<int>(n, poison_int); }
// The first `n` of `got` hold the message, all others poison.
bool expect_message(test_run& mpi, std::vector<int> const& got, std::uint64_t key, std::size_t n,
                    std::string const& who, std::source_location where = std::source_location::current());
// Source, tag, number of ints, not cancelled.
void expect_status(test_run& mpi, MPI_Status const& status, int source, int tag, std::size_t ints,
                   std::source_location where = std::source_location::current());
// Of a receive or probe of MPI_PROC_NULL (section 3.10).
void expect_null_status(test_run& mpi, MPI_Status const& status,
                        std::source_location where = std::source_location::current());

int class_of(int code); // MPI_Error_class

constexpr int polls = 50; // of what must not happen

} // namespace assay::p2p
