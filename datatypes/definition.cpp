#include "datatypes/definition.hpp"

#include "framework/mpi/failure.hpp"

#include <algorithm>

namespace assay {
namespace {

// The datatype that a constructor makes; frees those of the old types that were made only for it.
template <class Constructor> definition defined(Constructor how, std::vector<definition> old) {
    constructors::maps maps;
    for (auto const& o : old) maps.push_back(o.map);
    auto map = how.map(maps);
    auto make = [old = std::move(old), how = std::move(how)]() {
        auto const* const name = Constructor::name;
        constructors::handles handles;
        for (auto const& o : old) handles.push_back(o.make());
        bool const lacking = std::find(handles.begin(), handles.end(), MPI_DATATYPE_NULL) != handles.end();
        MPI_Datatype made = MPI_DATATYPE_NULL;
        int const code = lacking ? MPI_SUCCESS : how.make(handles, &made);
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

} // namespace

definition contiguous(int count, definition old) { return defined(constructors::contiguous{count}, {std::move(old)}); }
definition vector(int count, int blocklength, int stride, definition old) {
    return defined(constructors::vector{count, blocklength, stride}, {std::move(old)});
}
definition hvector(int count, int blocklength, MPI_Aint stride, definition old) {
    return defined(constructors::hvector{count, blocklength, stride}, {std::move(old)});
}
definition indexed(std::vector<int> blocklengths, std::vector<int> displacements, definition old) {
    return defined(constructors::indexed{std::move(blocklengths), std::move(displacements)}, {std::move(old)});
}
definition hindexed(std::vector<int> blocklengths, std::vector<MPI_Aint> displacements, definition old) {
    return defined(constructors::hindexed{std::move(blocklengths), std::move(displacements)}, {std::move(old)});
}
definition indexed_block(int blocklength, std::vector<int> displacements, definition old) {
    return defined(constructors::indexed_block{blocklength, std::move(displacements)}, {std::move(old)});
}
definition hindexed_block(int blocklength, std::vector<MPI_Aint> displacements, definition old) {
    return defined(constructors::hindexed_block{blocklength, std::move(displacements)}, {std::move(old)});
}
definition structure(std::vector<member> members) {
    auto [how, old] = split(std::move(members));
    return defined(std::move(how), std::move(old));
}
definition resized(MPI_Aint lb, MPI_Aint extent, definition old) {
    return defined(constructors::resized{lb, extent}, {std::move(old)});
}
definition subarray(std::vector<int> sizes, std::vector<int> subsizes, std::vector<int> starts, bool c_order,
                    definition old) {
    return defined(constructors::subarray{std::move(sizes), std::move(subsizes), std::move(starts), c_order},
                   {std::move(old)});
}
definition darray(int rank, std::vector<layout::dimension> dimensions, bool c_order, definition old) {
    return defined(constructors::darray{rank, std::move(dimensions), c_order}, {std::move(old)});
}
definition dup(definition old) { return defined(constructors::dup{}, {std::move(old)}); }

std::pair<constructors::structure, std::vector<definition>> split(std::vector<member> members) {
    constructors::structure how;
    std::vector<definition> types;
    for (auto& m : members) {
        how.blocklengths.push_back(m.blocklength);
        how.displacements.push_back(m.displacement);
        types.push_back(std::move(m.type));
    }
    return {std::move(how), std::move(types)};
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
