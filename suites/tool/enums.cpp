// Enumerations that describe the values of variables (MPI-5.0 section 15.3.5).
#include "suites/tool/tool.hpp"

#include <array>
#include <fmt/format.h>
#include <map>
#include <set>

using namespace assay;
using namespace assay::tool;

namespace {

// The enumerations of control variables or of performance variables, with a variable that has each.
enum class whose { cvars, pvars };
axis<whose> const owners("of", {{{"cvars", "of control variables"}, whose::cvars},
                                {{"pvars", "of performance variables"}, whose::pvars}});

std::map<MPI_T_enum, std::string> enumerations(test_run& mpi) {
    std::map<MPI_T_enum, std::string> all;
    if (mpi.at(owners) == whose::cvars) {
        for (auto const& one : cvars(mpi)) all.emplace(one.values, one.name);
    } else
        for (auto const& one : pvars(mpi)) all.emplace(one.values, one.name);
    all.erase(MPI_T_ENUM_NULL);
    if (all.empty()) mpi.unsupported("no such variable of the MPI library has an enumeration");
    return all;
}

struct item {
    int value;
    std::string name;
    bool operator==(item const&) const = default;
};
std::vector<item> items(test_run& mpi, MPI_T_enum of, std::string const& owner, int n) {
    std::vector<item> all;
    for (int i = 0; i < n; ++i) {
        std::array<char, room_for_name + 1> name{};
        int value = -7, length = room_for_name;
        succeeded(mpi, MPI_T_enum_get_item(of, i, &value, name.data(), &length),
                  fmt::format("MPI_T_enum_get_item {} of {}", i, owner));
        all.push_back({value, name.data()});
    }
    return all;
}

} // namespace

ASSAY_TEST(tool, enums, requirements{"tools.enum.num", "tools.enum.name", "tools.enum.item_name", "tools.enum.fixed"},
           over(axis_use{&owners})) {
    open(mpi);
    std::set<std::string> names;
    for (auto const& [of, owner] : enumerations(mpi)) {
        std::array<char, room_for_name + 1> name{};
        int n = -7, again = -7, length = room_for_name;
        succeeded(mpi, MPI_T_enum_get_info(of, &n, name.data(), &length), "MPI_T_enum_get_info of " + owner);
        succeeded(mpi, MPI_T_enum_get_info(of, &again, nullptr, nullptr), "MPI_T_enum_get_info of " + owner);
        mpi.check("tools.enum.num", n > 0 && n == again, finding::count,
                  fmt::format("the enumeration of {} has {} items, and then {}", owner, n, again));
        mpi.check("tools.enum.name", name[0] != '\0' && names.insert(name.data()).second, finding::value,
                  fmt::format("the enumeration of {} has no name, or that of another: \"{}\"", owner, name.data()));
        auto const all = items(mpi, of, owner, n);
        std::set<std::string> seen;
        for (auto const& one : all)
            mpi.check("tools.enum.item_name", !one.name.empty() && seen.insert(one.name).second, finding::value,
                      fmt::format("an item of the enumeration of {} has no name, or that of another: \"{}\"", owner,
                                  one.name));
        mpi.check("tools.enum.fixed", all == items(mpi, of, owner, n), finding::value,
                  fmt::format("the enumeration of {} has other items the second time", owner));
    }
}
