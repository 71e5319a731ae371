// Libraries have several algorithms for each collective operation and choose by size, datatype and operation. Where a library
// lets one choose through control variables (MPI-5.0 section 15.3.6), the same cases run with each of its algorithms.
#pragma once
#include "framework/mpi/run.hpp"

#include <string>
#include <vector>

namespace assay::coll {

// `algorithm`: the n-th alternative that the library offers for the operation. Plans are made without asking the library, so
// there are always the same; a case whose alternative does not exist is unsupported.
axis<int> const& algorithms();

// What such tests cross: few values of each axis, around the sizes at which libraries change their algorithm.
axis_use algorithm_starts();
axis_use algorithm_comms();
axis_use algorithm_types();
axis_use algorithm_counts();

// "bcast" or, unless the case starts it with the blocking call, "ibcast".
std::string started(test_run const& mpi, std::string const& operation);

// Control variables of the library that have other values until the end of the scope, however it ends: what a case leaves changed
// would be the crash of a later one.
class control_variables {
public:
    explicit control_variables(test_run& mpi) : mpi_(mpi) {}
    ~control_variables();
    control_variables(control_variables const&) = delete;
    control_variables& operator=(control_variables const&) = delete;
    void set(int variable, int value);

private:
    struct setting {
        int variable;
        int before;
    };
    test_run& mpi_;
    std::vector<setting> settings_;
};

// Makes the library use the case's alternative for an operation ("bcast", "ialltoall") until the end of the scope.
class chosen_algorithm {
public:
    // `in_order`: the operation does not commute.
    chosen_algorithm(test_run& mpi, std::string const& operation, bool in_order = false);
    ~chosen_algorithm();
    chosen_algorithm(chosen_algorithm const&) = delete;
    chosen_algorithm& operator=(chosen_algorithm const&) = delete;

    test_run& run() { return *run_; } // the test on a communicator that was made after the choice

private:
    test_run& mpi_;
    control_variables variables_; // also when the constructor finds the case unsupported
    test_run* run_ = nullptr;
    MPI_Comm comm_ = MPI_COMM_NULL;
};

} // namespace assay::coll
