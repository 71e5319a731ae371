// How strings are returned (MPI-5.0 section 15.3.3), by each procedure that returns some.
#include "suites/tool/tool.hpp"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <functional>

using namespace assay;
using namespace assay::tool;

namespace {

using getter = std::function<int(char* text, int* length)>;
using getters = std::vector<getter>;

// One getter for each index from 0 to n-1.
template <class Call> getters each(int n, Call call) {
    getters all;
    for (int i = 0; i < n; ++i)
        all.push_back([i, call](char* text, int* length) -> int { return call(i, text, length); });
    return all;
}

getters cvar_names(test_run& mpi) {
    return each(number_of_cvars(mpi), [](int i, char* s, int* n) -> int {
        return MPI_T_cvar_get_info(i, s, n, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr);
    });
}
getters cvar_descriptions(test_run& mpi) {
    return each(number_of_cvars(mpi), [](int i, char* s, int* n) -> int {
        return MPI_T_cvar_get_info(i, nullptr, nullptr, nullptr, nullptr, nullptr, s, n, nullptr, nullptr);
    });
}
getters pvar_names(test_run& mpi) {
    return each(number_of_pvars(mpi), [](int i, char* s, int* n) -> int {
        return MPI_T_pvar_get_info(i, s, n, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                                   nullptr, nullptr);
    });
}
getters pvar_descriptions(test_run& mpi) {
    return each(number_of_pvars(mpi), [](int i, char* s, int* n) -> int {
        return MPI_T_pvar_get_info(i, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, s, n, nullptr, nullptr,
                                   nullptr, nullptr);
    });
}
getters category_names(test_run& mpi) {
    return each(number_of_categories(mpi), [](int i, char* s, int* n) -> int {
        return MPI_T_category_get_info(i, s, n, nullptr, nullptr, nullptr, nullptr, nullptr);
    });
}
getters category_descriptions(test_run& mpi) {
    return each(number_of_categories(mpi), [](int i, char* s, int* n) -> int {
        return MPI_T_category_get_info(i, nullptr, nullptr, s, n, nullptr, nullptr, nullptr);
    });
}
getters event_names(test_run& mpi) {
    return each(number_of_events(mpi), [](int i, char* s, int* n) -> int {
        return MPI_T_event_get_info(i, s, n, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                                    nullptr);
    });
}
getters event_descriptions(test_run& mpi) {
    return each(number_of_events(mpi), [](int i, char* s, int* n) -> int {
        return MPI_T_event_get_info(i, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, s, n,
                                    nullptr);
    });
}
int number_of_sources(test_run& mpi) {
    int n = -7;
    succeeded(mpi, MPI_T_source_get_num(&n), "MPI_T_source_get_num");
    if (n == 0) mpi.unsupported("the MPI library has no sources of events");
    return n;
}
getters source_names(test_run& mpi) {
    return each(number_of_sources(mpi), [](int i, char* s, int* n) -> int {
        return MPI_T_source_get_info(i, s, n, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr);
    });
}
getters source_descriptions(test_run& mpi) {
    return each(number_of_sources(mpi), [](int i, char* s, int* n) -> int {
        return MPI_T_source_get_info(i, nullptr, nullptr, s, n, nullptr, nullptr, nullptr, nullptr);
    });
}
std::vector<MPI_T_enum> enumerations(test_run& mpi) {
    std::vector<MPI_T_enum> all;
    for (auto const& one : cvars(mpi))
        if (one.values != MPI_T_ENUM_NULL && std::find(all.begin(), all.end(), one.values) == all.end())
            all.push_back(one.values);
    if (all.empty()) mpi.unsupported("no control variable of the MPI library has an enumeration");
    return all;
}
getters enum_names(test_run& mpi) {
    getters all;
    for (auto one : enumerations(mpi))
        all.push_back([one](char* s, int* n) -> int {
            int number = 0;
            return MPI_T_enum_get_info(one, &number, s, n);
        });
    return all;
}
getters enum_items(test_run& mpi) {
    getters all;
    for (auto one : enumerations(mpi))
        all.push_back([one](char* s, int* n) -> int {
            int value = 0;
            return MPI_T_enum_get_item(one, 0, &value, s, n);
        });
    return all;
}

axis<getters (*)(test_run&)> const
    texts("text", {{{"cvar_name", "of a control variable"}, cvar_names},
                   {{"cvar_description", "of a control variable"}, cvar_descriptions},
                   {{"pvar_name", "of a performance variable"}, pvar_names},
                   {{"pvar_description", "of a performance variable"}, pvar_descriptions},
                   {{"category_name", "of a category"}, category_names},
                   {{"category_description", "of a category"}, category_descriptions},
                   {{"event_name", "of an event type", needs_events()}, event_names},
                   {{"event_description", "of an event type", needs_events()}, event_descriptions},
                   {{"source_name", "of a source of events", needs_events()}, source_names},
                   {{"source_description", "of a source of events", needs_events()}, source_descriptions},
                   {{"enum_name", "of an enumeration"}, enum_names},
                   {{"enum_item", "of the first item of an enumeration"}, enum_items}});

enum class room { ample, exact, one_less, half, one, zero, null_buffer, null_length };
axis<room> const rooms("room", {{{"ample", "more than the string needs"}, room::ample},
                                {{"exact", "for the string and its null character"}, room::exact},
                                {{"one_less", "for the string without its null character"}, room::one_less},
                                {{"half", "for half of the string"}, room::half},
                                {{"one", "for a null character"}, room::one},
                                {{"zero", "none: length 0"}, room::zero},
                                {{"null_buffer", "a null pointer for the buffer"}, room::null_buffer},
                                {{"null_length", "a null pointer for the length"}, room::null_length}});

std::size_t characters(room r, std::size_t length) {
    switch (r) {
    case room::ample: return length + 32;
    case room::exact: return length + 1;
    case room::one_less: return length;
    case room::half: return length / 2;
    case room::one: return 1;
    case room::zero: return 0;
    case room::null_buffer:
    case room::null_length: return length + 7;
    }
    return 0;
}

// Whether all was right; the first string with which it is not ends the case.
bool try_one(test_run& mpi, getter const& get, std::string const& whole, room r, int k) {
    constexpr char poison = static_cast<char>(poison_byte);
    auto const n = characters(r, whole.size());
    std::vector<char> buffer(n + 64, poison);
    auto length = static_cast<int>(n);
    int const code = get(r == room::null_buffer ? nullptr : buffer.data(), r == room::null_length ? nullptr : &length);
    auto const where =
        fmt::format("string {} (\"{}\", {} characters) with room for {}", k, whole.substr(0, 40), whole.size(), n);
    bool good = succeeded(mpi, code, "a call for " + where);
    auto const untouched = [&](std::size_t from) {
        return std::all_of(buffer.begin() + static_cast<std::ptrdiff_t>(from), buffer.end(),
                           [](char c) { return c == poison; });
    };
    auto const says_length = [&](requirement rests_on) {
        return mpi.check(rests_on, length == static_cast<int>(whole.size()) + 1, finding::value,
                         fmt::format("{}: the length is {}, expected {}", where, length, whole.size() + 1));
    };
    if (r == room::null_length)
        return mpi.check("tools.strings.null_length", untouched(0), finding::guard,
                         where + " and no length: something was written") &&
               good;
    if (r == room::null_buffer) return says_length("tools.strings.null_buffer") && good;
    if (n == 0) {
        good &= mpi.check("tools.strings.zero", untouched(0), finding::guard, where + ": something was written");
        return says_length("tools.strings.zero") && good;
    }
    good &= mpi.check("tools.strings.room", untouched(n), finding::guard, where + ": characters after it were written");
    auto const part = whole.substr(0, n - 1);
    bool const same = std::memcmp(buffer.data(), part.c_str(), part.size() + 1) == 0;
    buffer[n] = '\0';
    auto const message = fmt::format("{}: \"{}\" is returned, expected \"{}\"", where, buffer.data(), part);
    good &= mpi.check(n > whole.size() ? requirement("tools.strings.whole") : requirement("tools.strings.truncated"),
                      same, finding::value, message);
    return says_length("tools.strings.length") && good;
}

} // namespace

ASSAY_TEST(tool, strings,
           requirements{"tools.strings.whole", "tools.strings.length", "tools.strings.truncated", "tools.strings.room",
                        "tools.strings.zero", "tools.strings.null_buffer", "tools.strings.null_length"},
           over(axis_use{&texts}, axis_use{&rooms})) {
    open(mpi);
    int k = 0;
    for (auto const& get : mpi.at(texts)(mpi)) {
        std::vector<char> buffer(room_for_description, '\0');
        int length = room_for_description;
        int const code = get(buffer.data(), &length);
        if (is_inactive(code)) continue;
        if (!succeeded(mpi, code, fmt::format("a call for string {}", k))) return;
        if (!try_one(mpi, get, buffer.data(), mpi.at(rooms), k)) return;
        ++k;
    }
}
