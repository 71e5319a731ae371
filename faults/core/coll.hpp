// What the wrappers of collective procedures share: blocks of data, who takes part, and the operations of reductions.
#pragma once
#include "core.hpp"

#include <vector>

// The list of parameters or arguments that a macro got in parentheses.
#define UNPACK(...) __VA_ARGS__

namespace assay_faults {

// `count` elements of a datatype, `displacement` bytes after an address.
struct area {
    void* base;
    MPI_Aint displacement;
    int count;
    MPI_Datatype type;

    MPI_Aint extent() const {
        MPI_Aint lb = 0, size = 0;
        PMPI_Type_get_extent(type, &lb, &size);
        return size;
    }
    bool empty() const {
        int size = 0;
        PMPI_Type_size(type, &size);
        return count <= 0 || size <= 0;
    }
    MPI_Aint bytes() const {
        int size = 0;
        PMPI_Type_size(type, &size);
        return static_cast<MPI_Aint>(size) * count;
    }
    bool has_gaps() const {
        MPI_Aint lb = 0, true_size = 0;
        PMPI_Type_get_true_extent(type, &lb, &true_size);
        return bytes() < true_size * count;
    }
    char* start() const { return static_cast<char*>(base) + displacement; }
    // The first data byte of element n, which may be the one after the last.
    char* data(int n = 0) const {
        MPI_Aint lb = 0, size = 0;
        PMPI_Type_get_true_extent(type, &lb, &size);
        return start() + n * extent() + lb;
    }
};

inline bytes load(area const& a) { return load(a.start(), a.count, a.type); }
inline void store(bytes const& stream, area const& a) {
    if (!a.empty()) store(stream, a.start(), a.count, a.type);
}
void swap(area const& a, area const& b);

// The neighbours of a process in a topology; negative ones are MPI_PROC_NULL.
struct neighborhood {
    bool there = false, cartesian = false;
    std::vector<int> from, to;
};

neighborhood near_in(MPI_Comm comm);

struct role {
    bool root = false, partner = true, inter = false;
    int rank = 0, partners = 1; // those that exchange data with the root, or with this process
};
role role_in(MPI_Comm comm, int root);

// Faults of the operation of a reduction, coll_ops.cpp: they may change what a process contributes, and how.
void change(void const*& out, int count, MPI_Datatype& type, MPI_Op& op);
void operation_freed(); // after MPI_Op_free

void control_variable_written(void const* value); // before MPI_T_cvar_write

// Large counts lose their last element.
inline void shorten(MPI_Count& count) {
    if (count > 1) --count;
}

} // namespace assay_faults
