#include "datatypes/catalogue.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace assay {
namespace {

std::vector<datatype>& entries() {
    static std::vector<datatype> list; // made on first use: families register themselves in any order
    return list;
}

} // namespace

// Throws std::invalid_argument for a name that is taken or cannot stand in a case name.
register_datatype::register_datatype(datatype entry) {
    if (entry.name.empty() ||
        entry.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_.+") != std::string::npos)
        throw std::invalid_argument("datatype '" + entry.name + "': a name consists of one or more of [a-z0-9_.+]");
    auto& list = entries();
    auto const at =
        std::lower_bound(list.begin(), list.end(), entry, [](auto const& a, auto const& b) { return a.name < b.name; });
    if (at != list.end() && at->name == entry.name)
        throw std::invalid_argument("datatype '" + entry.name + "' is registered twice; names must be unique");
    entry.map.prepare();
    list.insert(at, std::move(entry));
}

std::vector<datatype> const& all_datatypes() { return entries(); }

} // namespace assay
