// The operation of a reduction test: predefined, or one of ours made with MPI_Op_create (MPI-5.0 section 6.9.5).
#pragma once
#include "framework/mpi/reduction.hpp"
#include "suites/coll/collective.hpp"

#include <numeric>

namespace assay::coll {

// Operations and datatypes of collective reductions: derived datatypes only with our own operations.
axis_use reducing();
constraint reducible();

// The MPI_Op of the case. Of our own operations it also judges what MPI hands to the function.
class case_op {
public:
    explicit case_op(test_run& run, bool large);
    ~case_op();
    case_op(case_op const&) = delete;
    case_op& operator=(case_op const&) = delete;
    operator MPI_Op() const { return handle; }

    test_run& mpi;
    operation const& op;
    MPI_Op handle;
};

// What this process contributes to a reduction, and the result of the one whose data it gets: on an intercommunicator that
// of the other group.
class contributions {
public:
    contributions(test_run const& mpi, std::size_t elements, int round)
        : mpi_(mpi), elements_(elements), round_(round), everybody_(static_cast<std::size_t>(mpi.peers)) {
        std::iota(everybody_.begin(), everybody_.end(), 0);
    }
    // These keep the streams that the segments point to.
    segment operand() {
        operand_ = of(mpi_.side, mpi_.size).operand(mpi_.rank, 0, elements_);
        return {0, elements_, 0, operand_.data()};
    }
    // Elements [first, first + n) of the result over the first `ranks` processes (-1: all), to stand from element 0.
    segment result(std::size_t first, std::size_t n, int ranks = -1) {
        auto const who = std::span(everybody_).first(ranks < 0 ? everybody_.size() : static_cast<std::size_t>(ranks));
        result_ = of(data_side(mpi_), mpi_.peers).result(who, first, n);
        return {0, n, 0, result_.data()};
    }
    segment result() { return result(0, elements_); }

private:
    reduction of(int side, int members) const {
        return {mpi_.at(operations()), *mpi_.type_entry, mpi_.key(side, 0, 2, 0, round_), members};
    }
    test_run const& mpi_;
    std::size_t elements_;
    int round_;
    std::vector<int> everybody_;
    std::vector<unsigned char> operand_, result_;
};

// Whether the function of an operation was given the datatype of the call: "a handle to the datatype" (section 6.9.5), which need
// not have the same value. Any other handle is looked at.
bool same_datatype(MPI_Datatype given, MPI_Datatype passed);

} // namespace assay::coll
