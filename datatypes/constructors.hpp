// The constructors of datatypes (MPI-5.0 section 5.1): one struct each, with the arguments of the C binding but for the old
// datatypes. It is all that is known of the constructor: its name and combiner, the type map that it makes by our own algebra,
// its calls, and what MPI_Type_get_contents gives back (section 5.1.13). definition.hpp and the recipes of suites/datatype are
// made of these.
#pragma once
#include "framework/check/layout.hpp"

#include <mpi.h>
#include <vector>

namespace assay::constructors {

using handles = std::vector<MPI_Datatype>;
using maps = std::vector<layout>;

// The arguments in the order of section 5.1.13.
struct contents {
    std::vector<int> integers; // of the binding without large counts
    std::vector<MPI_Aint> addresses;
    std::vector<int> integers_c; // of the other binding: what is int there, and what is MPI_Count
    std::vector<MPI_Count> counts_c;
};

// What each struct has. `old` are the datatype arguments; the calls return MPI's error code.
#define ASSAY_CONSTRUCTOR(procedure)                                                                                   \
    static constexpr char const* name = procedure;                                                                     \
    static int combiner();                                                                                             \
    layout map(maps const& old) const;                                                                                 \
    contents arguments() const;                                                                                        \
    int make(handles const& old, MPI_Datatype* made) const

struct contiguous {
    int count;
    ASSAY_CONSTRUCTOR("MPI_Type_contiguous");
    int make_c(handles const& old, MPI_Datatype* made) const;
};
struct vector {
    int count, blocklength, stride;
    ASSAY_CONSTRUCTOR("MPI_Type_vector");
    int make_c(handles const& old, MPI_Datatype* made) const;
};
struct hvector {
    int count, blocklength;
    MPI_Aint stride;
    ASSAY_CONSTRUCTOR("MPI_Type_create_hvector");
    int make_c(handles const& old, MPI_Datatype* made) const;
};
struct indexed {
    std::vector<int> blocklengths, displacements;
    ASSAY_CONSTRUCTOR("MPI_Type_indexed");
    int make_c(handles const& old, MPI_Datatype* made) const;
};
struct hindexed {
    std::vector<int> blocklengths;
    std::vector<MPI_Aint> displacements;
    ASSAY_CONSTRUCTOR("MPI_Type_create_hindexed");
    int make_c(handles const& old, MPI_Datatype* made) const;
};
struct indexed_block {
    int blocklength;
    std::vector<int> displacements;
    ASSAY_CONSTRUCTOR("MPI_Type_create_indexed_block");
    int make_c(handles const& old, MPI_Datatype* made) const;
};
struct hindexed_block {
    int blocklength;
    std::vector<MPI_Aint> displacements;
    ASSAY_CONSTRUCTOR("MPI_Type_create_hindexed_block");
    int make_c(handles const& old, MPI_Datatype* made) const;
};
struct structure {
    std::vector<int> blocklengths;
    std::vector<MPI_Aint> displacements;
    ASSAY_CONSTRUCTOR("MPI_Type_create_struct");
    int make_c(handles const& old, MPI_Datatype* made) const;
};
struct resized {
    MPI_Aint lb, extent;
    ASSAY_CONSTRUCTOR("MPI_Type_create_resized");
    int make_c(handles const& old, MPI_Datatype* made) const;
};
struct subarray {
    std::vector<int> sizes, subsizes, starts;
    bool c_order;
    ASSAY_CONSTRUCTOR("MPI_Type_create_subarray");
    int make_c(handles const& old, MPI_Datatype* made) const;
};
struct darray {
    int rank;
    std::vector<layout::dimension> dimensions;
    bool c_order;
    ASSAY_CONSTRUCTOR("MPI_Type_create_darray");
    int make_c(handles const& old, MPI_Datatype* made) const;
};
struct dup { // it has no counts, and so no second binding
    ASSAY_CONSTRUCTOR("MPI_Type_dup");
};

#undef ASSAY_CONSTRUCTOR

// What MPI_Type_create_darray wants to be told of each dimension.
struct darray_arguments {
    explicit darray_arguments(std::vector<layout::dimension> const& dimensions);
    int dimensions = 0, processes_in_all = 1;
    std::vector<int> sizes, how, arguments, processes;
};

} // namespace assay::constructors
