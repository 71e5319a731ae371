// Event types, and the sources of events (MPI-5.0 sections 15.3.8.1 and 15.3.8.3): what they say of themselves.
#include "suites/tool/tool.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <map>

using namespace assay;
using namespace assay::tool;

namespace {

axis<omit> const omitted("null", {{{"name", "for the name and its length"}, omit::name},
                                  {{"verbosity", "for the verbosity"}, omit::verbosity},
                                  {{"elements", "for datatypes, displacements and their number"}, omit::elements},
                                  {{"values", "for the enumeration"}, omit::values},
                                  {{"description", "for the description and its length"}, omit::description},
                                  {{"bind", "for the kind of object"}, omit::bind},
                                  {{"info", "for the info object"}, omit::info}});

int number_of_sources(test_run& mpi) {
    int n = -7;
    succeeded(mpi, MPI_T_source_get_num(&n), "MPI_T_source_get_num");
    mpi.check("tools.source.num", n >= 0, finding::count, fmt::format("there are {} sources of events", n));
    if (n == 0) mpi.unsupported("the MPI library has no sources of events");
    return n;
}

} // namespace

ASSAY_TEST(tool, event_info,
           requirements{"tools.event.num", "tools.event.info_same", "tools.event.name", "tools.event.displacements",
                        "tools.event.info_object", "tools.verbosity", "tools.bind", "tools.datatypes"},
           needs_events()) {
    open(mpi);
    int n = -7;
    succeeded(mpi, MPI_T_event_get_num(&n), "MPI_T_event_get_num");
    mpi.check("tools.event.num", n >= 0, finding::count, fmt::format("there are {} event types", n));
    std::map<std::string, int> seen;
    for (auto const& one : events(mpi)) {
        auto const [other, fresh] = seen.emplace(one.name, one.index);
        mpi.check("tools.event.name", !one.name.empty() && fresh, finding::value,
                  fmt::format("event type {} has no name, or that of event type {}: \"{}\"", one.index, other->second,
                              one.name));
        mpi.check("tools.verbosity", is_verbosity(one.verbosity), finding::value,
                  fmt::format("{} has verbosity {}", one.name, one.verbosity));
        mpi.check("tools.bind", is_bind(one.bind), finding::value,
                  fmt::format("{} is bound to {}", one.name, one.bind));
        for (auto type : one.types)
            mpi.check("tools.datatypes", is_datatype(type), finding::value,
                      one.name + " has an element of a datatype that is not in table 19");
        bool ascend = one.displacements.empty() || one.displacements[0] == 0;
        for (std::size_t i = 1; i < one.displacements.size(); ++i)
            ascend &= one.displacements[i] > one.displacements[i - 1];
        mpi.check("tools.event.displacements", ascend, finding::value,
                  one.name + " has displacements that do not begin with 0 and ascend");
        mpi.check("tools.event.info_object", one.info != MPI_INFO_NULL, finding::info,
                  one.name + " gives no info object");
        event again;
        mpi.check("tools.event.info_same", get(one.index, again) == MPI_SUCCESS && one == again, finding::value,
                  "MPI_T_event_get_info gives something else of " + one.name + " the second time");
    }
    int const later = number_of_events(mpi);
    mpi.check("tools.event.num", later >= n, finding::count,
              fmt::format("there are {} event types, and then {}", n, later));
}

ASSAY_TEST(tool, event_info_null, requirements{"tools.event.info_null"}, over(axis_use{&omitted}), needs_events()) {
    open(mpi);
    auto const which = mpi.at(omitted);
    for (auto expected : events(mpi)) {
        event one;
        succeeded(mpi, get(expected.index, one, which), "MPI_T_event_get_info of " + expected.name);
        event const fresh;
        if (which == omit::name) expected.name.clear();
        if (which == omit::verbosity) expected.verbosity = fresh.verbosity;
        if (which == omit::elements) {
            expected.types.clear();
            expected.displacements.clear();
            expected.elements = one.elements; // what the helper asked room for
        }
        if (which == omit::values) expected.values = fresh.values;
        if (which == omit::description) expected.description.clear();
        if (which == omit::bind) expected.bind = fresh.bind;
        mpi.check(one == expected && (which != omit::info || one.info == MPI_INFO_NULL), finding::value,
                  fmt::format("event type {}: with a null pointer for one argument the others differ", expected.index));
    }
}

ASSAY_TEST(tool, event_elements, requirements{"tools.event.elements"}, needs_events()) {
    open(mpi);
    for (auto const& one : events(mpi))
        for (int room = 0; room <= static_cast<int>(one.types.size()); ++room) {
            std::array<MPI_Aint, 65> displacements{};
            std::array<MPI_Datatype, 65> types{};
            displacements.fill(-77);
            types.fill(MPI_BYTE);
            int n = room;
            succeeded(mpi,
                      MPI_T_event_get_info(one.index, nullptr, nullptr, nullptr, types.data(), displacements.data(), &n,
                                           nullptr, nullptr, nullptr, nullptr, nullptr),
                      "MPI_T_event_get_info of " + one.name);
            mpi.check(
                n == one.elements, finding::count,
                fmt::format("{} has {} elements, and {} where there is room for {}", one.name, one.elements, n, room));
            auto const k = static_cast<std::size_t>(room);
            mpi.check(std::equal(types.begin(), types.begin() + room, one.types.begin()) &&
                          std::equal(displacements.begin(), displacements.begin() + room, one.displacements.begin()),
                      finding::value, fmt::format("{} has other elements where there is room for {}", one.name, room));
            mpi.check(types[k] == MPI_BYTE && displacements[k] == -77, finding::guard,
                      fmt::format("elements of {} were written after the room for {}", one.name, room));
        }
}

ASSAY_TEST(tool, sources,
           requirements{"tools.source.num", "tools.source.info", "tools.source.info_object", "tools.source.timestamp",
                        "tools.source.ticks"},
           needs_events()) {
    open(mpi);
    int const n = number_of_sources(mpi);
    for (int i = 0; i < n; ++i) {
        std::array<char, room_for_name + 1> name{};
        int length = room_for_name;
        MPI_T_source_order order{}, order_again{};
        MPI_Count ticks = -77, most = -77, ticks_again = -77, most_again = -77;
        MPI_Info info = MPI_INFO_NULL;
        succeeded(mpi, MPI_T_source_get_info(i, name.data(), &length, nullptr, nullptr, &order, &ticks, &most, &info),
                  fmt::format("MPI_T_source_get_info of index {}", i));
        mpi.check("tools.source.info", order == MPI_T_SOURCE_ORDERED || order == MPI_T_SOURCE_UNORDERED, finding::value,
                  fmt::format("source {} is neither ordered nor unordered", name.data()));
        mpi.check("tools.source.info", name[0] != '\0' && ticks > 0 && most > 0, finding::value,
                  fmt::format("source \"{}\" has {} ticks a second, at most {}", name.data(), ticks, most));
        succeeded(mpi,
                  MPI_T_source_get_info(i, nullptr, nullptr, nullptr, nullptr, &order_again, &ticks_again, &most_again,
                                        nullptr),
                  fmt::format("MPI_T_source_get_info of index {}", i));
        mpi.check("tools.source.info", order == order_again && ticks == ticks_again && most == most_again,
                  finding::value, fmt::format("source {} says something else the second time", name.data()));
        mpi.check("tools.source.info_object", info != MPI_INFO_NULL, finding::info,
                  fmt::format("source {} gives no info object", name.data()));
        if (info != MPI_INFO_NULL) mpi.ok(MPI_Info_free(&info));
        MPI_Count before = -77, after = -77;
        int const code = MPI_T_source_get_timestamp(i, &before);
        if (!mpi.check("tools.source.timestamp", code == MPI_SUCCESS || code == MPI_T_ERR_NOT_SUPPORTED,
                       finding::return_, "MPI_T_source_get_timestamp returns " + name_of_code(code)) ||
            code != MPI_SUCCESS)
            continue;
        succeeded(mpi, MPI_T_source_get_timestamp(i, &after), "MPI_T_source_get_timestamp");
        mpi.check("tools.source.timestamp", before != -77 && before <= most && after <= most, finding::value,
                  fmt::format("source {} has the timestamps {} and {}, at most {}", name.data(), before, after, most));
        mpi.check("tools.source.ticks", after >= before, finding::order,
                  fmt::format("source {} has the timestamp {}, and then {}", name.data(), before, after));
    }
    int const later = number_of_sources(mpi);
    mpi.check("tools.source.num", later >= n, finding::count,
              fmt::format("there are {} sources of events, and then {}", n, later));
}

namespace {

enum class index { minus_one, number, largest };
axis<index> const indices("index", {{{"minus_one", "-1"}, index::minus_one},
                                    {{"number", "one more than the last"}, index::number},
                                    {{"largest", "the largest int"}, index::largest}});

} // namespace

// The standard says what these return, where it calls other indices that do not exist wrong use.
ASSAY_TEST(tool, event_bad_index, requirements{"tools.event.bad_index", "tools.source.bad_index"},
           over(axis_use{&indices}), needs_events()) {
    open(mpi);
    auto const bad = [&](int n) {
        return mpi.at(indices) == index::minus_one ? -1 : mpi.at(indices) == index::number ? n : 0x7fffffff;
    };
    int n = 0;
    MPI_Count time = 0;
    succeeded(mpi, MPI_T_event_get_num(&n), "MPI_T_event_get_num");
    {
        event one;
        auto const rest = mpi.resting_on("tools.event.bad_index");
        returned(mpi, get(bad(n), one), MPI_T_ERR_INVALID_INDEX,
                 fmt::format("MPI_T_event_get_info of index {}", bad(n)));
    }
    succeeded(mpi, MPI_T_source_get_num(&n), "MPI_T_source_get_num");
    auto const rest = mpi.resting_on("tools.source.bad_index");
    returned(mpi, MPI_T_source_get_timestamp(bad(n), &time), MPI_T_ERR_INVALID_INDEX,
             fmt::format("MPI_T_source_get_timestamp of index {}", bad(n)));
}
