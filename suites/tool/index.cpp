// The index of what has a given name (MPI-5.0 sections 15.3.6.1, 15.3.7.2, 15.3.8.3 and 15.3.9.1).
#include "suites/tool/tool.hpp"

#include <algorithm>
#include <fmt/format.h>

using namespace assay;
using namespace assay::tool;

namespace {

struct named_index {
    std::string name;
    int var_class, index;
};
struct kind {
    char const* call;
    std::vector<named_index> (*all)(test_run&);
    int (*find)(char const* name, int var_class, int* index);
    requirement known, unknown;
};

template <class T> std::vector<named_index> names(std::vector<T> const& all) {
    std::vector<named_index> some;
    for (auto const& one : all) some.push_back({one.name, 0, one.index});
    return some;
}

axis<kind> const
    kinds("what", {{{"cvar", "control variables"},
                    {"MPI_T_cvar_get_index", [](test_run& mpi) { return names(cvars(mpi)); },
                     [](char const* name, int, int* index) -> int { return MPI_T_cvar_get_index(name, index); },
                     "tools.cvar.index", "tools.cvar.index_unknown"}},
                   {{"pvar", "performance variables"},
                    {"MPI_T_pvar_get_index",
                     [](test_run& mpi) {
                         std::vector<named_index> some;
                         for (auto const& one : pvars(mpi)) some.push_back({one.name, one.var_class, one.index});
                         return some;
                     },
                     [](char const* name, int c, int* index) -> int { return MPI_T_pvar_get_index(name, c, index); },
                     "tools.pvar.index", "tools.pvar.index_unknown"}},
                   {{"category", "categories"},
                    {"MPI_T_category_get_index", [](test_run& mpi) { return names(categories(mpi)); },
                     [](char const* name, int, int* index) -> int { return MPI_T_category_get_index(name, index); },
                     "tools.category.index", "tools.category.index_unknown"}},
                   {{"event", "event types", needs_events()},
                    {"MPI_T_event_get_index", [](test_run& mpi) { return names(events(mpi)); },
                     [](char const* name, int, int* index) -> int { return MPI_T_event_get_index(name, index); },
                     "tools.event.index", "tools.event.index_unknown"}}});

} // namespace

ASSAY_TEST(tool, index,
           requirements{"tools.cvar.index", "tools.pvar.index", "tools.category.index", "tools.event.index"},
           over(axis_use{&kinds})) {
    open(mpi);
    auto const& k = mpi.at(kinds);
    auto const rest = mpi.resting_on(k.known);
    for (auto const& one : k.all(mpi)) {
        int index = -7;
        auto const what = fmt::format("{} of \"{}\"", k.call, one.name);
        if (succeeded(mpi, k.find(one.name.c_str(), one.var_class, &index), what))
            mpi.check(index == one.index, finding::value,
                      fmt::format("{} gives {}, expected {}", what, index, one.index));
    }
}

ASSAY_TEST(tool, index_unknown,
           requirements{"tools.cvar.index_unknown", "tools.pvar.index_unknown", "tools.category.index_unknown",
                        "tools.event.index_unknown"},
           over(axis_use{&kinds})) {
    open(mpi);
    auto const& k = mpi.at(kinds);
    auto const rest = mpi.resting_on(k.unknown);
    auto const all = k.all(mpi);
    auto const expect_unknown = [&](std::string const& name, int var_class) {
        if (std::any_of(all.begin(), all.end(),
                        [&](named_index const& one) { return one.name == name && one.var_class == var_class; }))
            return;
        int index = -7;
        returned(mpi, k.find(name.c_str(), var_class, &index), MPI_T_ERR_INVALID_NAME,
                 fmt::format("{} of \"{}\", which does not exist,", k.call, name));
    };
    expect_unknown("", all.front().var_class);
    expect_unknown("no such name", all.front().var_class);
    for (auto const& one : all) {
        expect_unknown(one.name + "_", one.var_class);
        expect_unknown(one.name.substr(0, one.name.size() - 1), one.var_class);
        if (one.var_class == 0) continue;
        for (int other : {MPI_T_PVAR_CLASS_STATE, MPI_T_PVAR_CLASS_COUNTER, MPI_T_PVAR_CLASS_GENERIC})
            expect_unknown(one.name, other);
    }
}
