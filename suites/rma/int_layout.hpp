// Ints in different places: datatypes for accesses whose buffers differ.
#pragma once
#include "suites/rma/int_window.hpp"

namespace assay::rma {

enum class form { plain, spaced, backwards }; // side by side, every third one, or the last one first

// `n` ints of which the i-th lies at index(i), as one element of a datatype.
class layout_of_ints {
public:
    layout_of_ints(test_run& mpi, form how, int n) : mpi_(mpi), how_(how), n_(n) {
        if (how == form::plain) mpi.ok(MPI_Type_contiguous(n, MPI_INT, &type_));
        if (how == form::spaced) mpi.ok(MPI_Type_vector(n, 1, 3, MPI_INT, &type_));
        if (how == form::backwards) {
            std::vector<int> places;
            for (int i = 0; i < n; ++i) places.push_back(static_cast<int>(index(i)));
            mpi.ok(MPI_Type_create_indexed_block(n, 1, places.data(), MPI_INT, &type_));
        }
        mpi.ok(MPI_Type_commit(&type_));
    }
    ~layout_of_ints() { release(); }
    layout_of_ints(layout_of_ints const&) = delete;
    layout_of_ints& operator=(layout_of_ints const&) = delete;

    operator MPI_Datatype() const { return type_; }
    void release() {
        if (type_ != MPI_DATATYPE_NULL) mpi_.ok(MPI_Type_free(&type_));
    }
    std::size_t index(int i) const {
        return static_cast<std::size_t>(how_ == form::plain ? i : how_ == form::spaced ? 3 * i : 2 * (n_ - 1 - i));
    }
    std::size_t room() const { return static_cast<std::size_t>(3 * (n_ + 2)); } // also for two ints more
    // All of the room: value(i) at index(i), `gap` elsewhere.
    template <class Value> std::vector<int> filled(Value value, int gap) const {
        std::vector<int> all(room(), gap);
        for (int i = 0; i < n_; ++i) all[index(i)] = value(i);
        return all;
    }

private:
    test_run& mpi_;
    form how_;
    int n_;
    MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

} // namespace assay::rma
