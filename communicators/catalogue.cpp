#include "communicators/catalogue.hpp"

#include <algorithm>
#include <fmt/core.h>
#include <stdexcept>
#include <utility>

namespace assay {
namespace {

// A function-local static: the entries of other files may register before this file's own statics exist.
std::vector<communicator>& catalogue() {
    static std::vector<communicator> entries;
    return entries;
}

bool is_name(std::string const& name) {
    return !name.empty() && name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_.+") == std::string::npos;
}

} // namespace

register_communicator::register_communicator(communicator entry) {
    if (!is_name(entry.name))
        throw std::invalid_argument(
            fmt::format("communicator \"{}\": a name must be made of a-z, 0-9, '_', '.' and '+'", entry.name));
    if (!entry.layout || !entry.make || !entry.lacks)
        throw std::invalid_argument(
            fmt::format("communicator \"{}\": an entry must have lacks, layout and make", entry.name));
    auto& entries = catalogue();
    auto const place = std::lower_bound(entries.begin(), entries.end(), entry.name,
                                        [](communicator const& a, std::string const& name) { return a.name < name; });
    if (place != entries.end() && place->name == entry.name)
        throw std::invalid_argument(
            fmt::format("communicator \"{}\": registered twice; a name must be unique", entry.name));
    entries.insert(place, std::move(entry));
}

std::vector<communicator> const& all_communicators() { return catalogue(); }

} // namespace assay
