#include "datatypes/definition.hpp"

#include "framework/mpi/failure.hpp"

#include <algorithm>

namespace assay {
namespace {

// Calls a constructor on the old types and frees those of them that were made only for it.
template <class Construct>
definition construct(layout map, std::vector<definition> old, Construct call, char const* name) {
    auto make = [old = std::move(old), call, name]() {
        std::vector<MPI_Datatype> handles;
        for (auto const& o : old) handles.push_back(o.make());
        bool const lacking = std::find(handles.begin(), handles.end(), MPI_DATATYPE_NULL) != handles.end();
        MPI_Datatype made = MPI_DATATYPE_NULL;
        int const code = lacking ? MPI_SUCCESS : call(handles, &made);
        for (std::size_t i = 0; i < old.size(); ++i)
            if (!old[i].is_predefined && handles[i] != MPI_DATATYPE_NULL)
                must(MPI_Type_free(&handles[i]), "MPI_Type_free");
        must(code, name);
        // Only a datatype that is made of what the library lacks may be missing.
        if (!lacking && made == MPI_DATATYPE_NULL)
            throw end_of_body(name, std::string(name) + " returned MPI_SUCCESS with MPI_DATATYPE_NULL",
                              std::source_location::current());
        return made;
    };
    return {std::move(map), std::move(make), false};
}

using handles = std::vector<MPI_Datatype> const&;
int length(auto const& list) { return static_cast<int>(list.size()); }
std::vector<std::ptrdiff_t> bytes(std::vector<MPI_Aint> const& displacements) {
    return {displacements.begin(), displacements.end()};
}

} // namespace

definition contiguous(int count, definition old) {
    auto map = layout::contiguous(static_cast<std::size_t>(count), old.map);
    return construct(
        std::move(map), {std::move(old)},
        [=](handles h, MPI_Datatype* t) { return MPI_Type_contiguous(count, h[0], t); }, "MPI_Type_contiguous");
}

definition vector(int count, int blocklength, int stride, definition old) {
    auto map = layout::vector(static_cast<std::size_t>(count), static_cast<std::size_t>(blocklength), stride, old.map);
    return construct(
        std::move(map), {std::move(old)},
        [=](handles h, MPI_Datatype* t) { return MPI_Type_vector(count, blocklength, stride, h[0], t); },
        "MPI_Type_vector");
}

definition hvector(int count, int blocklength, MPI_Aint stride, definition old) {
    auto map = layout::hvector(static_cast<std::size_t>(count), static_cast<std::size_t>(blocklength), stride, old.map);
    return construct(
        std::move(map), {std::move(old)},
        [=](handles h, MPI_Datatype* t) { return MPI_Type_create_hvector(count, blocklength, stride, h[0], t); },
        "MPI_Type_create_hvector");
}

definition indexed(std::vector<int> blocklengths, std::vector<int> displacements, definition old) {
    auto map = layout::indexed(blocklengths, displacements, old.map);
    return construct(
        std::move(map), {std::move(old)},
        [=](handles h, MPI_Datatype* t) {
            return MPI_Type_indexed(length(blocklengths), blocklengths.data(), displacements.data(), h[0], t);
        },
        "MPI_Type_indexed");
}

definition hindexed(std::vector<int> blocklengths, std::vector<MPI_Aint> displacements, definition old) {
    auto map = layout::hindexed(blocklengths, bytes(displacements), old.map);
    return construct(
        std::move(map), {std::move(old)},
        [=](handles h, MPI_Datatype* t) {
            return MPI_Type_create_hindexed(length(blocklengths), blocklengths.data(), displacements.data(), h[0], t);
        },
        "MPI_Type_create_hindexed");
}

definition indexed_block(int blocklength, std::vector<int> displacements, definition old) {
    auto map = layout::indexed(std::vector<int>(displacements.size(), blocklength), displacements, old.map);
    return construct(
        std::move(map), {std::move(old)},
        [=](handles h, MPI_Datatype* t) {
            return MPI_Type_create_indexed_block(length(displacements), blocklength, displacements.data(), h[0], t);
        },
        "MPI_Type_create_indexed_block");
}

definition hindexed_block(int blocklength, std::vector<MPI_Aint> displacements, definition old) {
    auto map = layout::hindexed(std::vector<int>(displacements.size(), blocklength), bytes(displacements), old.map);
    return construct(
        std::move(map), {std::move(old)},
        [=](handles h, MPI_Datatype* t) {
            return MPI_Type_create_hindexed_block(length(displacements), blocklength, displacements.data(), h[0], t);
        },
        "MPI_Type_create_hindexed_block");
}

definition structure(std::vector<member> members) {
    std::vector<int> blocklengths;
    std::vector<MPI_Aint> displacements;
    std::vector<layout> maps;
    std::vector<definition> types;
    for (auto& m : members) {
        blocklengths.push_back(m.blocklength);
        displacements.push_back(m.displacement);
        maps.push_back(m.type.map);
        types.push_back(std::move(m.type));
    }
    auto map = layout::structure(blocklengths, bytes(displacements), maps);
    return construct(
        std::move(map), std::move(types),
        [=](handles h, MPI_Datatype* t) {
            return MPI_Type_create_struct(length(blocklengths), blocklengths.data(), displacements.data(), h.data(), t);
        },
        "MPI_Type_create_struct");
}

definition resized(MPI_Aint lb, MPI_Aint extent, definition old) {
    auto map = layout::resized(old.map, lb, extent);
    return construct(
        std::move(map), {std::move(old)},
        [=](handles h, MPI_Datatype* t) { return MPI_Type_create_resized(h[0], lb, extent, t); },
        "MPI_Type_create_resized");
}

definition subarray(std::vector<int> sizes, std::vector<int> subsizes, std::vector<int> starts, bool c_order,
                    definition old) {
    auto map = layout::subarray(sizes, subsizes, starts, c_order, old.map);
    return construct(
        std::move(map), {std::move(old)},
        [=](handles h, MPI_Datatype* t) {
            return MPI_Type_create_subarray(length(sizes), sizes.data(), subsizes.data(), starts.data(),
                                            c_order ? MPI_ORDER_C : MPI_ORDER_FORTRAN, h[0], t);
        },
        "MPI_Type_create_subarray");
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

definition darray(int rank, std::vector<layout::dimension> dimensions, bool c_order, definition old) {
    auto map = layout::darray(rank, dimensions, c_order, old.map);
    auto call = [=, a = darray_arguments(dimensions)](handles h, MPI_Datatype* t) {
        return MPI_Type_create_darray(a.processes_in_all, rank, a.dimensions, a.sizes.data(), a.how.data(),
                                      a.arguments.data(), a.processes.data(), c_order ? MPI_ORDER_C : MPI_ORDER_FORTRAN,
                                      h[0], t);
    };
    return construct(std::move(map), {std::move(old)}, call, "MPI_Type_create_darray");
}

definition dup(definition old) {
    auto map = old.map;
    return construct(
        std::move(map), {std::move(old)}, [](handles h, MPI_Datatype* t) { return MPI_Type_dup(h[0], t); },
        "MPI_Type_dup");
}

datatype derived(std::string name, std::string note, definition const& made, std::string title) {
    auto make = [construct = made.make]() {
        auto type = construct();
        if (type != MPI_DATATYPE_NULL) must(MPI_Type_commit(&type), "MPI_Type_commit");
        return type;
    };
    datatype entry;
    entry.name = std::move(name);
    entry.title = std::move(title);
    entry.note = std::move(note);
    entry.map = made.map;
    entry.make = make;
    return entry;
}

} // namespace assay
