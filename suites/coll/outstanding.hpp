// Nonblocking and persistent collective operations on MPI_INTs of which many are outstanding at once. Each has a number that
// decides what it does, who is its root and what data it moves.
#pragma once
#include "framework/mpi/run.hpp"

#include <vector>

namespace assay::coll {

class numbered {
public:
    // Of `elements` MPI_INTs a block on `comm`, an intracommunicator in which this process is `rank` of `size`.
    numbered(test_run& mpi, int number, MPI_Comm comm, int rank, int size, std::size_t elements);
    numbered(test_run& mpi, int number) : numbered(mpi, number, mpi.comm, mpi.rank, mpi.size, mpi.elements) {}

    static constexpr int kinds = 9; // operations, then they begin again

    void prepare(int round = 0); // fills the buffers: what comes next moves the data of this round
    void initiate(MPI_Request* request);
    void initialize(MPI_Request* request);
    void judge(); // after completion

private:
    std::vector<int> contribution(int from) const; // what a process hands in; to all, block by block

    test_run& mpi_;
    int const number_;
    MPI_Comm const comm_;
    int const rank_, size_, block_, root_;
    int round_ = 0;
    std::vector<int> out_, in_, expected_;
};

} // namespace assay::coll
