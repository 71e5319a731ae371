// Performance variables (MPI-5.0 section 15.3.7): what they say of themselves.
#include "suites/tool/tool.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <map>

using namespace assay;
using namespace assay::tool;

namespace {

bool is_class(int c) {
    static constexpr std::array<int, 10> all{MPI_T_PVAR_CLASS_STATE,         MPI_T_PVAR_CLASS_LEVEL,
                                             MPI_T_PVAR_CLASS_SIZE,          MPI_T_PVAR_CLASS_PERCENTAGE,
                                             MPI_T_PVAR_CLASS_HIGHWATERMARK, MPI_T_PVAR_CLASS_LOWWATERMARK,
                                             MPI_T_PVAR_CLASS_COUNTER,       MPI_T_PVAR_CLASS_AGGREGATE,
                                             MPI_T_PVAR_CLASS_TIMER,         MPI_T_PVAR_CLASS_GENERIC};
    return std::find(all.begin(), all.end(), c) != all.end();
}
// Section 15.3.7.1.
bool suits(int c, MPI_Datatype type) {
    if (c == MPI_T_PVAR_CLASS_GENERIC) return true;
    if (c == MPI_T_PVAR_CLASS_STATE) return type == MPI_INT;
    if (c == MPI_T_PVAR_CLASS_PERCENTAGE) return type == MPI_DOUBLE;
    if (type == MPI_DOUBLE) return c != MPI_T_PVAR_CLASS_COUNTER;
    return type == MPI_UNSIGNED || type == MPI_UNSIGNED_LONG || type == MPI_UNSIGNED_LONG_LONG;
}

axis<omit> const omitted("null", {{{"name", "for the name and its length"}, omit::name},
                                  {{"verbosity", "for the verbosity"}, omit::verbosity},
                                  {{"var_class", "for the class"}, omit::var_class},
                                  {{"type", "for the datatype"}, omit::type},
                                  {{"values", "for the enumeration"}, omit::values},
                                  {{"description", "for the description and its length"}, omit::description},
                                  {{"bind", "for the kind of object"}, omit::bind},
                                  {{"flags", "for the flags"}, omit::flags}});

} // namespace

ASSAY_TEST(tool, pvar_info,
           requirements{"tools.pvar.num", "tools.pvar.class", "tools.pvar.class_type", "tools.pvar.state_enum",
                        "tools.pvar.info_same", "tools.pvar.name", "tools.pvar.no_description", "tools.pvar.flags",
                        "tools.verbosity", "tools.bind", "tools.datatypes", "tools.enum.only_int"}) {
    open(mpi);
    int const n = number_of_pvars(mpi);
    mpi.check("tools.pvar.num", n >= 0, finding::count, fmt::format("there are {} performance variables", n));
    std::map<std::pair<std::string, int>, int> seen;
    for (auto const& one : pvars(mpi)) {
        auto const what = fmt::format("{} (performance variable {})", one.name, one.index);
        auto const [other, fresh] = seen.emplace(std::pair(one.name, one.var_class), one.index);
        mpi.check("tools.pvar.name", !one.name.empty() && fresh, finding::value,
                  fmt::format("{} has no name, or the name and class of {}", what, other->second));
        mpi.check("tools.pvar.class", is_class(one.var_class), finding::value,
                  fmt::format("{} has class {}", what, one.var_class));
        mpi.check("tools.pvar.class_type", suits(one.var_class, one.type), finding::value,
                  fmt::format("{} has a datatype that class {} does not allow", what, one.var_class));
        mpi.check("tools.datatypes", is_datatype(one.type), finding::value,
                  what + " has a datatype that is not in table 19");
        mpi.check("tools.pvar.state_enum", one.var_class != MPI_T_PVAR_CLASS_STATE || one.values != MPI_T_ENUM_NULL,
                  finding::value, what + " is a state without an enumeration");
        mpi.check("tools.enum.only_int", one.type == MPI_INT || one.values == MPI_T_ENUM_NULL, finding::value,
                  what + " has an enumeration, and not the datatype MPI_INT");
        mpi.check("tools.verbosity", is_verbosity(one.verbosity), finding::value,
                  fmt::format("{} has verbosity {}", what, one.verbosity));
        mpi.check("tools.bind", is_bind(one.bind), finding::value, fmt::format("{} is bound to {}", what, one.bind));
        auto const is_flag = [](int flag) { return flag == 0 || flag == 1; };
        mpi.check("tools.pvar.flags", is_flag(one.readonly) && is_flag(one.continuous) && is_flag(one.atomic),
                  finding::value,
                  fmt::format("{} has readonly {}, continuous {}, atomic {}", what, one.readonly, one.continuous,
                              one.atomic));
        mpi.check("tools.pvar.no_description", !one.description.empty() || one.description_length == 1, finding::value,
                  fmt::format("{} has no description, whose length is {}", what, one.description_length));
        pvar again;
        mpi.check("tools.pvar.info_same", get(one.index, again) == MPI_SUCCESS && one == again, finding::value,
                  "MPI_T_pvar_get_info gives something else of " + what + " the second time");
    }
    int const later = number_of_pvars(mpi);
    mpi.check("tools.pvar.num", later >= n, finding::count,
              fmt::format("there are {} performance variables, and then {}", n, later));
}

ASSAY_TEST(tool, pvar_info_null, requirements{"tools.pvar.info_null"}, over(axis_use{&omitted})) {
    open(mpi);
    auto const which = mpi.at(omitted);
    for (auto expected : pvars(mpi)) {
        pvar one;
        succeeded(mpi, get(expected.index, one, which), "MPI_T_pvar_get_info of " + expected.name);
        pvar const fresh;
        if (which == omit::name) expected.name.clear();
        if (which == omit::verbosity) expected.verbosity = fresh.verbosity;
        if (which == omit::var_class) expected.var_class = fresh.var_class;
        if (which == omit::type) expected.type = fresh.type;
        if (which == omit::values) expected.values = fresh.values;
        if (which == omit::description) expected.description.clear();
        if (which == omit::bind) expected.bind = fresh.bind;
        if (which == omit::flags) expected.readonly = expected.continuous = expected.atomic = fresh.readonly;
        if (!mpi.check(one == expected, finding::value,
                       fmt::format("performance variable {}: with a null pointer for one argument the others differ",
                                   expected.index)))
            return;
    }
}
