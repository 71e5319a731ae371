// A datatype as an expression: vector(3, 2, 4, predefined("int")) is at once the type map, by our own algebra, and the
// recipe that makes the same datatype with the library under test.
#pragma once
#include "datatypes/catalogue.hpp"
#include "datatypes/constructors.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay {

struct definition {
    layout map;
    std::function<MPI_Datatype()> make; // not committed; MPI_DATATYPE_NULL: the library lacks it
    bool is_predefined = false;
};

// A basic C type ("double"). Throws std::invalid_argument for a name that is not in the table of predefined.cpp.
basic_type const& basic(std::string_view name);
// A predefined datatype by its name in the catalogue ("double", "double_int"). Throws std::invalid_argument likewise.
definition predefined(std::string_view name);

// What the constructors (constructors.hpp) make, with the arguments of the C bindings.
definition contiguous(int count, definition old);
definition vector(int count, int blocklength, int stride, definition old);
definition hvector(int count, int blocklength, MPI_Aint stride, definition old);
definition indexed(std::vector<int> blocklengths, std::vector<int> displacements, definition old);
definition hindexed(std::vector<int> blocklengths, std::vector<MPI_Aint> displacements, definition old);
definition indexed_block(int blocklength, std::vector<int> displacements, definition old);
definition hindexed_block(int blocklength, std::vector<MPI_Aint> displacements, definition old);
struct member {
    int blocklength;
    MPI_Aint displacement;
    definition type;
};
definition structure(std::vector<member> members);
std::pair<constructors::structure, std::vector<definition>> split(std::vector<member> members);
definition resized(MPI_Aint lb, MPI_Aint extent, definition old);
definition subarray(std::vector<int> sizes, std::vector<int> subsizes, std::vector<int> starts, bool c_order,
                    definition old);
definition darray(int rank, std::vector<layout::dimension> dimensions, bool c_order, definition old);
definition dup(definition old);

// The catalogue's entry: its make() commits. `title` is the name in Keller's thesis, "" if the thesis does not have it.
datatype derived(std::string name, std::string note, definition const& made, std::string title = "");

} // namespace assay
