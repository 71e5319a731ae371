#include "framework/mpi/subject.hpp"

#include "framework/plan/names.hpp"

#include "standard.inc"

#include <algorithm>
#include <dlfcn.h>
#include <map>
#include <string_view>

namespace assay {
namespace {

struct origin {
    std::string_view since, procedures; // " MPI_A MPI_B "
};
origin origin_of(requirement one) {
    static std::map<std::string_view, origin> const known = {
#define R(id_, section, level, since, procedures) {id_, {since, procedures}},
        ASSAY_REQUIREMENTS(R)
#undef R
    };
    return known.at(one.id());
}

std::string_view since_of_procedure(std::string_view name) {
    static std::map<std::string_view, std::string_view> const versions = [] {
        std::map<std::string_view, std::string_view> map;
        for (auto const& p : procedures_of_mpi()) map.emplace(p.name, p.since);
        return map;
    }();
    auto const found = versions.find(name);
    return found == versions.end() ? std::string_view() : found->second;
}

// While `newest` is set, has_procedure knows nothing newer. Only set while plans are made, which one thread does.
std::string_view newest;
std::string refused; // the last procedure that was too new

// The procedure that a test or value needs and this version of MPI lacks, or "".
std::string beyond(std::string_view version, std::function<std::string(job const&)> const& lacks, job const& j) {
    if (!lacks) return "";
    newest = version;
    refused.clear();
    bool const lacking = !lacks(j).empty();
    newest = {};
    return lacking ? refused : "";
}

bool has_test(std::string const& version, test const& t, job const& j) {
    for (auto const& condition : t.conditions)
        if (!beyond(version, condition.lacks, j).empty()) return false;
    std::vector<origin> newer;
    for (auto const one : t.rests_on)
        if (auto const o = origin_of(one); is_newer(o.since, version)) newer.push_back(o);
    if (newer.empty()) return true;
    if (newer.size() == t.rests_on.size()) return false;
    std::vector<std::string> lost; // with values of the axes
    for (auto const& use : t.axes)
        for (std::size_t v = 0; v < use.axis->size(); ++v)
            if (!use.keep || use.keep(v)) lost.push_back(beyond(version, use.axis->info(v).lacks, j));
    return std::all_of(newer.begin(), newer.end(), [&](origin const& r) {
        return std::any_of(lost.begin(), lost.end(), [&](std::string const& procedure) {
            return !procedure.empty() && r.procedures.find(" " + procedure + " ") != std::string_view::npos;
        });
    });
}

profile of_version(std::string const& version) {
    return {"mpi-" + version, "what MPI-" + version + " says",
            [version](test const& t, job const& j) { return has_test(version, t, j); },
            [version](axis_base const& axis, std::size_t value, job const& j) {
                return beyond(version, axis.info(value).lacks, j).empty();
            }};
}

} // namespace

// Asked by its profiling name: a preloaded layer may define MPI_X for a library that lacks it (MPI-5.0 section 15.2). What
// the header lacks cannot be called, whatever the library has.
bool mpi_library_has(char const* name) {
    if (!newest.empty() && is_newer(since_of_procedure(name), newest)) {
        refused = name;
        return false;
    }
    for (auto const* absent : absent_procedures)
        if (absent != nullptr && std::string_view(absent) == name) return false;
    for (auto const* macro : macro_procedures)
        if (macro != nullptr && std::string_view(macro) == name) return true;
    return dlsym(RTLD_DEFAULT, (std::string("P") + name).c_str()) != nullptr;
}

std::vector<profile> const& profiles_of_mpi() {
    static std::vector<profile> const all = {
        {"keller-2008", "communicators, datatypes and counts of Keller's thesis",
         [](test const&, job const&) { return true; },
         [](axis_base const& axis, std::size_t value, job const&) { return axis.in_keller(value); }},
        of_version("3.1"),
        of_version("4.0"),
        of_version("4.1"),
        of_version("5.0"),
    };
    return all;
}

std::vector<standard_procedure> const& procedures_of_mpi() {
    static std::vector<standard_procedure> const all = {
#define P(name_, since) {name_, since},
        ASSAY_PROCEDURES(P)
#undef P
    };
    return all;
}

} // namespace assay
