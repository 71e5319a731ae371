// Categories of variables (MPI-5.0 section 15.3.9).
#include "suites/tool/tool.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <map>
#include <set>

using namespace assay;
using namespace assay::tool;

namespace {

constexpr int untouched = -77;

// What categories contain.
struct kind {
    char const* call;
    int (*number)(test_run& mpi, category const& of); // how many of these it contains
    int (*get)(int category, int len, int* indices);
    int (*get_num)(int* n); // how many there are
    requirement members;
};
axis<kind> const
    kinds("members",
          {{{"cvars", "control variables"},
            {"MPI_T_category_get_cvars", [](test_run&, category const& c) { return c.cvars; },
             [](int c, int len, int* i) -> int { return MPI_T_category_get_cvars(c, len, i); },
             [](int* n) -> int { return MPI_T_cvar_get_num(n); }, "tools.category.members"}},
           {{"pvars", "performance variables"},
            {"MPI_T_category_get_pvars", [](test_run&, category const& c) { return c.pvars; },
             [](int c, int len, int* i) -> int { return MPI_T_category_get_pvars(c, len, i); },
             [](int* n) -> int { return MPI_T_pvar_get_num(n); }, "tools.category.members"}},
           {{"categories", "other categories"},
            {"MPI_T_category_get_categories", [](test_run&, category const& c) { return c.categories; },
             [](int c, int len, int* i) -> int { return MPI_T_category_get_categories(c, len, i); },
             [](int* n) -> int { return MPI_T_category_get_num(n); }, "tools.category.members"}},
           {{"events", "event types", needs_procedures({"MPI_T_category_get_events", "MPI_T_category_get_num_events"})},
            {"MPI_T_category_get_events",
             [](test_run& mpi, category const& c) {
                 int n = -7;
                 succeeded(mpi, MPI_T_category_get_num_events(c.index, &n),
                           "MPI_T_category_get_num_events of " + c.name);
                 return n;
             },
             [](int c, int len, int* i) -> int { return MPI_T_category_get_events(c, len, i); },
             [](int* n) -> int { return MPI_T_event_get_num(n); }, "tools.category.events"}}});

axis<omit> const omitted("null", {{{"name", "for the name and its length"}, omit::name},
                                  {{"description", "for the description and its length"}, omit::description},
                                  {{"numbers", "for the numbers of variables and categories"}, omit::elements}});

// What fits into an array of `len` entries, which is followed by others.
std::vector<int> members(test_run& mpi, kind const& k, category const& of, int len) {
    std::vector<int> indices(static_cast<std::size_t>(len) + 4, untouched);
    succeeded(mpi, k.get(of.index, len, indices.data()), fmt::format("{} of {}", k.call, of.name));
    mpi.check("tools.category.room",
              std::all_of(indices.begin() + len, indices.end(), [](int i) { return i == untouched; }), finding::guard,
              fmt::format("{} of {} writes more than {} indices", k.call, of.name, len));
    indices.resize(static_cast<std::size_t>(len));
    return indices;
}

} // namespace

ASSAY_TEST(tool, category_info,
           requirements{"tools.category.num", "tools.category.name", "tools.category.no_description"}) {
    open(mpi);
    int const n = number_of_categories(mpi);
    mpi.check("tools.category.num", n >= 0, finding::count, fmt::format("there are {} categories", n));
    std::map<std::string, int> seen;
    for (auto const& one : categories(mpi)) {
        auto const [other, fresh] = seen.emplace(one.name, one.index);
        mpi.check(
            "tools.category.name", !one.name.empty() && fresh, finding::value,
            fmt::format("category {} has no name, or that of category {}: \"{}\"", one.index, other->second, one.name));
        mpi.check("tools.category.no_description", !one.description.empty() || one.description_length == 1,
                  finding::value,
                  fmt::format("{} has no description, whose length is {}", one.name, one.description_length));
    }
    int const later = number_of_categories(mpi);
    mpi.check("tools.category.num", later >= n, finding::count,
              fmt::format("there are {} categories, and then {}", n, later));
}

ASSAY_TEST(tool, category_info_null, requirements{"tools.category.info_null"}, over(axis_use{&omitted})) {
    open(mpi);
    auto const which = mpi.at(omitted);
    for (auto expected : categories(mpi)) {
        category one;
        succeeded(mpi, get(expected.index, one, which), "MPI_T_category_get_info of " + expected.name);
        category const fresh;
        if (which == omit::name) expected.name.clear();
        if (which == omit::description) expected.description.clear();
        if (which == omit::elements) expected.cvars = expected.pvars = expected.categories = fresh.cvars;
        if (!mpi.check(
                one == expected, finding::value,
                fmt::format("category {}: with a null pointer for one argument the others differ", expected.index)))
            return;
    }
}

ASSAY_TEST(tool, category_members,
           requirements{"tools.category.members", "tools.category.events", "tools.category.room",
                        "tools.category.order"},
           over(axis_use{&kinds})) {
    open(mpi);
    auto const& k = mpi.at(kinds);
    int there = -7;
    succeeded(mpi, k.get_num(&there), "the procedure that says how many there are");
    for (auto const& one : categories(mpi)) {
        int const n = k.number(mpi, one);
        auto const rest = mpi.resting_on(k.members);
        if (!mpi.check(n >= 0 && n <= there, finding::count,
                       fmt::format("{} contains {} of {} there are", one.name, n, there)))
            continue;
        auto const all = members(mpi, k, one, n);
        mpi.check(std::all_of(all.begin(), all.end(), [&](int i) { return i >= 0 && i < there; }) &&
                      std::set<int>(all.begin(), all.end()).size() == all.size(),
                  finding::value,
                  fmt::format("{} of {} gives an index that does not exist, or twice", k.call, one.name));
        auto more = members(mpi, k, one, n + 3);
        mpi.check("tools.category.room",
                  std::all_of(more.begin() + n, more.end(), [](int i) { return i == untouched; }), finding::guard,
                  fmt::format("{} of {} writes more indices than there are", k.call, one.name));
        more.resize(static_cast<std::size_t>(n));
        mpi.check("tools.category.order", more == all, finding::order,
                  fmt::format("{} of {} gives other indices the second time", k.call, one.name));
        if (n == 0) continue;
        auto const fewer = members(mpi, k, one, n - 1);
        mpi.check("tools.category.room",
                  std::all_of(fewer.begin(), fewer.end(),
                              [&](int i) { return std::find(all.begin(), all.end(), i) != all.end(); }) &&
                      std::set<int>(fewer.begin(), fewer.end()).size() == fewer.size(),
                  finding::value, fmt::format("{} of {} gives no subset where there is less room", k.call, one.name));
    }
}

ASSAY_TEST(tool, category_circle, requirements{"tools.category.no_circle"}) {
    open(mpi);
    std::map<int, std::vector<int>> below;
    for (auto const& one : categories(mpi)) {
        std::vector<int> indices(static_cast<std::size_t>(std::max(one.categories, 0)), untouched);
        succeeded(mpi, MPI_T_category_get_categories(one.index, one.categories, indices.data()),
                  "MPI_T_category_get_categories of " + one.name);
        below[one.index] = indices;
    }
    for (auto const& [start, first] : below) {
        std::set<int> reached;
        std::vector<int> next = first;
        while (!next.empty()) {
            int const i = next.back();
            next.pop_back();
            if (!reached.insert(i).second) continue;
            if (auto const more = below.find(i); more != below.end())
                next.insert(next.end(), more->second.begin(), more->second.end());
        }
        mpi.check(reached.count(start) == 0, finding::value, fmt::format("category {} includes itself", start));
    }
}

ASSAY_TEST(tool, category_changed, requirements{"tools.category.changed"}) {
    open(mpi);
    int before = -7, after = -7;
    succeeded(mpi, MPI_T_category_changed(&before), "MPI_T_category_changed");
    auto const first = categories(mpi);
    stir(mpi);
    auto const second = categories(mpi);
    succeeded(mpi, MPI_T_category_changed(&after), "MPI_T_category_changed");
    mpi.check(before != untouched && after >= before, finding::value,
              fmt::format("the update number is {}, and then {}", before, after));
    mpi.check(after != before || first == second, finding::value,
              fmt::format("the update number stays {}, and the categories are others", before));
}
