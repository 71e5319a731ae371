#include "recording/pending.hpp"

#include "recording/arguments.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

using nlohmann::json;

namespace assay_recording {
namespace {

constexpr std::size_t most_bytes = std::size_t{64} << 10; // of one piece of memory

struct piece {
    std::uint64_t at;
    std::size_t size;
    std::int64_t of; // the request or window
    bool stays;      // the memory of a window: all synchronizations are about it
};
std::vector<piece> pieces; // of the case that is recorded; a layer records one thread

json const* argument(json const& all, char const* name) {
    auto const found = std::find_if(all.begin(), all.end(), [name](json const& one) { return one["name"] == name; });
    return found == all.end() ? nullptr : &*found;
}

// The values of a handle before or after the call, by the place of the argument; `type` is that of the handle.
std::vector<std::int64_t> values(json const& before, json const& with_values, char const* type) {
    std::vector<std::int64_t> all;
    for (std::size_t k = 0; k < before.size(); ++k) {
        if (before[k]["type"] != type) continue;
        if (before[k].contains("value")) all.push_back(before[k]["value"].get<std::int64_t>());
        else if (with_values[k].contains("values"))
            for (auto const& value : with_values[k]["values"]) all.push_back(value.get<std::int64_t>());
    }
    return all;
}

void note(json const& before, std::int64_t of) {
    for (auto const& one : before) {
        if (one["type"] != "void" || one.value("constant", true) || !one.contains("bytes")) continue;
        auto const size = one["bytes"].get_ref<std::string const&>().size() / 2;
        auto const at = one["at"].get<std::uint64_t>() + static_cast<std::uint64_t>(one["low"].get<std::int64_t>());
        if (size > 0 && size <= most_bytes) pieces.push_back({at, size, of, false});
    }
}

// The pieces of these objects, which have become complete.
json take(std::vector<std::int64_t> const& of, bool all_done) {
    auto found = json::array();
    std::erase_if(pieces, [&](piece const& one) {
        if (std::find(of.begin(), of.end(), one.of) == of.end()) return false;
        found.push_back({{"at", one.at}, {"bytes", bytes_at(one.at, one.size)}});
        return all_done && !one.stays;
    });
    return found;
}

} // namespace

json completed(std::string const& name, json const& before, json const& after) {
    if (name.starts_with("MPI_Wait") || name.starts_with("MPI_Test")) {
        auto done = values(before, before, "MPI_Request");
        auto const left = values(before, after, "MPI_Request");
        bool const persistent = done == left; // such requests stay
        for (std::size_t k = 0; !persistent && k < done.size(); ++k)
            if (k < left.size() && left[k] == done[k]) done[k] = 0;
        auto const* const flag = argument(before, "flag");
        if (persistent && flag != nullptr && after[static_cast<std::size_t>(flag - &before[0])]["values"][0] == 0)
            return json::array();
        return take(done, !persistent);
    }
    auto const windows = values(before, after, "MPI_Win");
    if (name.starts_with("MPI_Win_create") || name.starts_with("MPI_Win_allocate")) {
        auto const *const base = argument(before, "base"), *const size = argument(before, "size");
        std::uint64_t at = base != nullptr ? base->value("at", std::uint64_t{0}) : 0;
        for (auto const& one : after)
            if (one.contains("memory")) at = one["memory"].get<std::uint64_t>();
        auto const bytes = size != nullptr ? static_cast<std::size_t>(size->value("value", std::int64_t{0})) : 0;
        if (at != 0 && bytes > 0 && bytes <= most_bytes && !windows.empty())
            pieces.push_back({at, bytes, windows[0], true});
        return json::array();
    }
    if (name == "MPI_Win_free") {
        auto const freed = values(before, before, "MPI_Win");
        std::erase_if(pieces, [&](piece const& one) { return !freed.empty() && one.of == freed[0]; });
        return json::array();
    }
    static std::set<std::string> const begin{"MPI_Win_start", "MPI_Win_post", "MPI_Win_lock", "MPI_Win_lock_all"};
    if (name.starts_with("MPI_Win_") && begin.count(name) == 0) return take(windows, true);
    auto const requests = values(before, after, "MPI_Request");
    if (!requests.empty() && name != "MPI_Start" && name != "MPI_Startall") note(before, requests[0]);
    else if (!windows.empty() && !name.starts_with("MPI_Win_")) note(before, windows[0]);
    return json::array();
}

} // namespace assay_recording
