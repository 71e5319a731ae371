#include "datatypes/constructors.hpp"

namespace assay::constructors {
namespace {

int length(auto const& list) { return static_cast<int>(list.size()); }
std::size_t number(int n) { return static_cast<std::size_t>(n); }
std::vector<std::ptrdiff_t> bytes(std::vector<MPI_Aint> const& numbers) { return {numbers.begin(), numbers.end()}; }
std::vector<MPI_Count> large(auto const& numbers) { return {numbers.begin(), numbers.end()}; }
template <class T> std::vector<T> joined(std::vector<T> first, auto const&... then) {
    (first.insert(first.end(), then.begin(), then.end()), ...);
    return first;
}
int order(bool c_order) { return c_order ? MPI_ORDER_C : MPI_ORDER_FORTRAN; }

} // namespace

int contiguous::combiner() { return MPI_COMBINER_CONTIGUOUS; }
layout contiguous::map(maps const& old) const { return layout::contiguous(number(count), old[0]); }
contents contiguous::arguments() const { return {{count}, {}, {}, {count}}; }
int contiguous::make(handles const& old, MPI_Datatype* made) const { return MPI_Type_contiguous(count, old[0], made); }
int contiguous::make_c(handles const& old, MPI_Datatype* made) const {
    return MPI_Type_contiguous_c(count, old[0], made);
}

int vector::combiner() { return MPI_COMBINER_VECTOR; }
layout vector::map(maps const& old) const { return layout::vector(number(count), number(blocklength), stride, old[0]); }
contents vector::arguments() const { return {{count, blocklength, stride}, {}, {}, {count, blocklength, stride}}; }
int vector::make(handles const& old, MPI_Datatype* made) const {
    return MPI_Type_vector(count, blocklength, stride, old[0], made);
}
int vector::make_c(handles const& old, MPI_Datatype* made) const {
    return MPI_Type_vector_c(count, blocklength, stride, old[0], made);
}

int hvector::combiner() { return MPI_COMBINER_HVECTOR; }
layout hvector::map(maps const& old) const {
    return layout::hvector(number(count), number(blocklength), stride, old[0]);
}
contents hvector::arguments() const { return {{count, blocklength}, {stride}, {}, {count, blocklength, stride}}; }
int hvector::make(handles const& old, MPI_Datatype* made) const {
    return MPI_Type_create_hvector(count, blocklength, stride, old[0], made);
}
int hvector::make_c(handles const& old, MPI_Datatype* made) const {
    return MPI_Type_create_hvector_c(count, blocklength, stride, old[0], made);
}

int indexed::combiner() { return MPI_COMBINER_INDEXED; }
layout indexed::map(maps const& old) const { return layout::indexed(blocklengths, displacements, old[0]); }
contents indexed::arguments() const {
    std::vector<int> const all = joined(std::vector{length(blocklengths)}, blocklengths, displacements);
    return {all, {}, {}, large(all)};
}
int indexed::make(handles const& old, MPI_Datatype* made) const {
    return MPI_Type_indexed(length(blocklengths), blocklengths.data(), displacements.data(), old[0], made);
}
int indexed::make_c(handles const& old, MPI_Datatype* made) const {
    return MPI_Type_indexed_c(length(blocklengths), large(blocklengths).data(), large(displacements).data(), old[0],
                              made);
}

int hindexed::combiner() { return MPI_COMBINER_HINDEXED; }
layout hindexed::map(maps const& old) const { return layout::hindexed(blocklengths, bytes(displacements), old[0]); }
contents hindexed::arguments() const {
    std::vector<int> const integers = joined(std::vector{length(blocklengths)}, blocklengths);
    return {integers, displacements, {}, joined(large(integers), displacements)};
}
int hindexed::make(handles const& old, MPI_Datatype* made) const {
    return MPI_Type_create_hindexed(length(blocklengths), blocklengths.data(), displacements.data(), old[0], made);
}
int hindexed::make_c(handles const& old, MPI_Datatype* made) const {
    return MPI_Type_create_hindexed_c(length(blocklengths), large(blocklengths).data(), large(displacements).data(),
                                      old[0], made);
}

int indexed_block::combiner() { return MPI_COMBINER_INDEXED_BLOCK; }
layout indexed_block::map(maps const& old) const {
    return layout::indexed(std::vector<int>(displacements.size(), blocklength), displacements, old[0]);
}
contents indexed_block::arguments() const {
    std::vector<int> const all = joined(std::vector{length(displacements), blocklength}, displacements);
    return {all, {}, {}, large(all)};
}
int indexed_block::make(handles const& old, MPI_Datatype* made) const {
    return MPI_Type_create_indexed_block(length(displacements), blocklength, displacements.data(), old[0], made);
}
int indexed_block::make_c(handles const& old, MPI_Datatype* made) const {
    return MPI_Type_create_indexed_block_c(length(displacements), blocklength, large(displacements).data(), old[0],
                                           made);
}

int hindexed_block::combiner() { return MPI_COMBINER_HINDEXED_BLOCK; }
layout hindexed_block::map(maps const& old) const {
    return layout::hindexed(std::vector<int>(displacements.size(), blocklength), bytes(displacements), old[0]);
}
contents hindexed_block::arguments() const {
    std::vector<int> const integers{length(displacements), blocklength};
    return {integers, displacements, {}, joined(large(integers), displacements)};
}
int hindexed_block::make(handles const& old, MPI_Datatype* made) const {
    return MPI_Type_create_hindexed_block(length(displacements), blocklength, displacements.data(), old[0], made);
}
int hindexed_block::make_c(handles const& old, MPI_Datatype* made) const {
    return MPI_Type_create_hindexed_block_c(length(displacements), blocklength, large(displacements).data(), old[0],
                                            made);
}

int structure::combiner() { return MPI_COMBINER_STRUCT; }
layout structure::map(maps const& old) const { return layout::structure(blocklengths, bytes(displacements), old); }
contents structure::arguments() const {
    std::vector<int> const integers = joined(std::vector{length(blocklengths)}, blocklengths);
    return {integers, displacements, {}, joined(large(integers), displacements)};
}
int structure::make(handles const& old, MPI_Datatype* made) const {
    return MPI_Type_create_struct(length(blocklengths), blocklengths.data(), displacements.data(), old.data(), made);
}
int structure::make_c(handles const& old, MPI_Datatype* made) const {
    return MPI_Type_create_struct_c(length(blocklengths), large(blocklengths).data(), large(displacements).data(),
                                    old.data(), made);
}

int resized::combiner() { return MPI_COMBINER_RESIZED; }
layout resized::map(maps const& old) const { return layout::resized(old[0], lb, extent); }
contents resized::arguments() const { return {{}, {lb, extent}, {}, {lb, extent}}; }
int resized::make(handles const& old, MPI_Datatype* made) const {
    return MPI_Type_create_resized(old[0], lb, extent, made);
}
int resized::make_c(handles const& old, MPI_Datatype* made) const {
    return MPI_Type_create_resized_c(old[0], lb, extent, made);
}

int subarray::combiner() { return MPI_COMBINER_SUBARRAY; }
layout subarray::map(maps const& old) const { return layout::subarray(sizes, subsizes, starts, c_order, old[0]); }
contents subarray::arguments() const {
    std::vector const last{order(c_order)};
    return {joined(std::vector{length(sizes)}, sizes, subsizes, starts, last),
            {},
            {length(sizes), order(c_order)},
            large(joined(sizes, subsizes, starts))};
}
int subarray::make(handles const& old, MPI_Datatype* made) const {
    return MPI_Type_create_subarray(length(sizes), sizes.data(), subsizes.data(), starts.data(), order(c_order), old[0],
                                    made);
}
int subarray::make_c(handles const& old, MPI_Datatype* made) const {
    return MPI_Type_create_subarray_c(length(sizes), large(sizes).data(), large(subsizes).data(), large(starts).data(),
                                      order(c_order), old[0], made);
}

darray_arguments::darray_arguments(std::vector<layout::dimension> const& all) : dimensions(length(all)) {
    using enum layout::distribution;
    for (auto const& d : all) {
        sizes.push_back(d.size);
        how.push_back(d.how == block    ? MPI_DISTRIBUTE_BLOCK
                      : d.how == cyclic ? MPI_DISTRIBUTE_CYCLIC
                                        : MPI_DISTRIBUTE_NONE);
        arguments.push_back(d.argument == 0 ? MPI_DISTRIBUTE_DFLT_DARG : d.argument);
        processes.push_back(d.processes);
        processes_in_all *= d.processes;
    }
}

int darray::combiner() { return MPI_COMBINER_DARRAY; }
layout darray::map(maps const& old) const { return layout::darray(rank, dimensions, c_order, old[0]); }
contents darray::arguments() const {
    darray_arguments const a(dimensions);
    std::vector const first{a.processes_in_all, rank, a.dimensions}, last{order(c_order)};
    return {joined(first, a.sizes, a.how, a.arguments, a.processes, last),
            {},
            joined(first, a.how, a.arguments, a.processes, last),
            large(a.sizes)};
}
int darray::make(handles const& old, MPI_Datatype* made) const {
    darray_arguments const a(dimensions);
    return MPI_Type_create_darray(a.processes_in_all, rank, a.dimensions, a.sizes.data(), a.how.data(),
                                  a.arguments.data(), a.processes.data(), order(c_order), old[0], made);
}
int darray::make_c(handles const& old, MPI_Datatype* made) const {
    darray_arguments const a(dimensions);
    return MPI_Type_create_darray_c(a.processes_in_all, rank, a.dimensions, large(a.sizes).data(), a.how.data(),
                                    a.arguments.data(), a.processes.data(), order(c_order), old[0], made);
}

int dup::combiner() { return MPI_COMBINER_DUP; }
layout dup::map(maps const& old) const { return old[0]; }
contents dup::arguments() const { return {}; }
int dup::make(handles const& old, MPI_Datatype* made) const { return MPI_Type_dup(old[0], made); }

} // namespace assay::constructors
