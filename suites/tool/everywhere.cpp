// What has the same name in several processes has the same properties there (MPI-5.0 sections 15.3.6 to 15.3.9).
#include "suites/tool/tool.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <sstream>

using namespace assay;
using namespace assay::tool;

namespace {

// Names, and all of their properties that must be identical, as a text.
using properties = std::map<std::string, std::string>;

std::string type_name(MPI_Datatype type) {
    char name[MPI_MAX_OBJECT_NAME + 1] = "";
    int length = 0;
    return MPI_Type_get_name(type, name, &length) == MPI_SUCCESS ? name : "?";
}
std::string enum_name(MPI_T_enum which) { return which == MPI_T_ENUM_NULL ? "no enumeration" : "an enumeration"; }

properties of_cvars(test_run& mpi) {
    properties all;
    for (auto const& c : cvars(mpi))
        all[c.name] = fmt::format("verbosity {}, {}, {}, bind {}, scope {}, \"{}\"", c.verbosity, type_name(c.type),
                                  enum_name(c.values), c.bind, c.scope, c.description);
    return all;
}
properties of_pvars(test_run& mpi) {
    properties all;
    for (auto const& p : pvars(mpi))
        all[fmt::format("{} of class {}", p.name, p.var_class)] = fmt::format(
            "verbosity {}, {}, {}, bind {}, readonly {}, continuous {}, atomic {}, \"{}\"", p.verbosity,
            type_name(p.type), enum_name(p.values), p.bind, p.readonly, p.continuous, p.atomic, p.description);
    return all;
}
properties of_categories(test_run& mpi) {
    properties all;
    for (auto const& c : categories(mpi)) all[c.name] = fmt::format("\"{}\"", c.description);
    return all;
}
properties of_events(test_run& mpi) {
    properties all;
    for (auto const& e : events(mpi)) {
        auto text =
            fmt::format("verbosity {}, {}, bind {}, \"{}\"", e.verbosity, enum_name(e.values), e.bind, e.description);
        for (auto type : e.types) text += ", " + type_name(type);
        all[e.name] = text;
    }
    return all;
}

struct kind {
    properties (*all)(test_run&);
    requirement rests_on;
};
axis<kind> const kinds("of",
                       {{{"cvars", "control variables"}, {of_cvars, "tools.cvar.equal_everywhere"}},
                        {{"pvars", "performance variables"}, {of_pvars, "tools.pvar.equal_everywhere"}},
                        {{"categories", "categories"}, {of_categories, "tools.category.equal_everywhere"}},
                        {{"events", "event types", needs_events()}, {of_events, "tools.event.equal_everywhere"}}});

} // namespace

// Each process compares its own with those of rank 0.
ASSAY_TEST(tool, everywhere,
           requirements{"tools.cvar.equal_everywhere", "tools.pvar.equal_everywhere", "tools.category.equal_everywhere",
                        "tools.event.equal_everywhere"},
           over(axis_use{&kinds}, communicators::world())) {
    open(mpi);
    properties own;
    std::string none; // why this process has nothing to compare, which need not be so in the others
    try {
        own = mpi.at(kinds).all(mpi);
    } catch (unsupported_here const& here) {
        none = here.reason;
    }
    std::string text;
    for (auto const& [name, what] : own) text.append(name).append(1, '\0').append(what).append(1, '\0');
    auto length = static_cast<int>(text.size());
    mpi.ok(MPI_Bcast(&length, 1, MPI_INT, 0, mpi.comm));
    text.resize(static_cast<std::size_t>(length));
    mpi.ok(MPI_Bcast(text.data(), length, MPI_CHAR, 0, mpi.comm));
    auto const rest = mpi.resting_on(mpi.at(kinds).rests_on);
    std::istringstream words(text);
    for (std::string name, what; std::getline(words, name, '\0') && std::getline(words, what, '\0');)
        if (auto const here = own.find(name); here != own.end())
            mpi.check(here->second == what, finding::value,
                      fmt::format("{} is here: {}; on rank 0: {}", name, here->second, what));
    if (!none.empty() && length == 0) mpi.unsupported(none);
}
