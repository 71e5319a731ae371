// What a session says of its process sets (MPI-5.0 sections 11.3.2 and 11.3.3): before MPI_Init, within the World Model, and after
// MPI_Finalize.
#include "framework/check/logical.hpp"
#include "framework/mpi/own_job.hpp"
#include "framework/mpi/run.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>

using namespace assay;

namespace {

enum class moment { before, within, after };
axis<moment> const moments("when", {{{"before", "before MPI_Init"}, moment::before},
                                    {{"within", "between MPI_Init and MPI_Finalize"}, moment::within},
                                    {{"after", "after MPI_Finalize"}, moment::after}});

// The name of process set n: first how much room it needs, then with one character less, then whole.
std::string name_of_set(test_run& mpi, MPI_Session session, int n) {
    int needed = 0;
    char untouched = static_cast<char>(poison_byte);
    if (!succeeded(mpi, MPI_Session_get_nth_pset(session, MPI_INFO_NULL, n, &needed, &untouched))) return "";
    mpi.check("env.psets.name_room", untouched == static_cast<char>(poison_byte), finding::guard,
              "MPI_Session_get_nth_pset with pset_len 0 wrote a name");
    if (!mpi.check("env.psets.name_room", needed > 1 && needed <= MPI_MAX_PSET_NAME_LEN + 1, finding::value,
                   fmt::format("process set {} needs room for {} characters; MPI_MAX_PSET_NAME_LEN is {}", n, needed,
                               MPI_MAX_PSET_NAME_LEN)))
        return "";
    auto const room = static_cast<std::size_t>(needed);
    std::string whole, cut;
    for (std::size_t given : {room, room - 1}) {
        std::string text(room + 16, static_cast<char>(poison_byte));
        int length = static_cast<int>(given);
        succeeded(mpi, MPI_Session_get_nth_pset(session, MPI_INFO_NULL, n, &length, text.data()));
        mpi.check("env.psets.name_room",
                  text.find_first_not_of(static_cast<char>(poison_byte), given) == std::string::npos, finding::guard,
                  fmt::format("process set {}: characters beyond the room of {} were written", n, given));
        auto const end = text.find('\0');
        if (!mpi.check("env.psets.name_room", end < given, finding::value,
                       fmt::format("process set {}: the name does not end within the room of {}", n, given))) {
            if (given == room) return "";
            continue;
        }
        (given == room ? whole : cut) = text.substr(0, end);
    }
    mpi.check("env.psets.name_room", whole.size() + 1 == room, finding::value,
              fmt::format("process set {}: the name \"{}\" has {} characters, {} were announced", n, whole,
                          whole.size(), needed - 1));
    mpi.check("env.psets.name_room", whole.starts_with(cut), finding::value,
              fmt::format("process set {}: with one character less room the name is \"{}\"; whole it is \"{}\"", n, cut,
                          whole));
    return whole;
}

// The value of mpi_size, or -1.
int size_of_set(test_run& mpi, MPI_Session session, std::string const& name) {
    MPI_Info info = MPI_INFO_NULL;
    if (!succeeded(mpi, MPI_Session_get_pset_info(session, name.c_str(), &info)) ||
        !mpi.check(info != MPI_INFO_NULL, finding::value, "MPI_Session_get_pset_info gives MPI_INFO_NULL"))
        return -1;
    char text[32] = "";
    int room = sizeof text, flag = 0, size = -1;
    succeeded(mpi, MPI_Info_get_string(info, "mpi_size", &room, text, &flag));
    if (mpi.check("env.psets.size", logical(flag), finding::info,
                  fmt::format("the process set {} has no mpi_size", name))) {
        size = static_cast<int>(std::strtol(text, nullptr, 10));
        mpi.check("env.psets.size", size > 0, finding::info, fmt::format("mpi_size of {} is \"{}\"", name, text));
    }
    succeeded(mpi, MPI_Info_free(&info));
    return size;
}

void look(test_run& mpi) {
    MPI_Session session = MPI_SESSION_NULL;
    if (!succeeded(mpi, MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session))) return;
    was_initialized();
    int sets = -7;
    succeeded(mpi, MPI_Session_get_num_psets(session, MPI_INFO_NULL, &sets));
    mpi.check("env.psets.mandated", sets >= 2, finding::value,
              fmt::format("MPI_Session_get_num_psets gives {}: there are mpi://WORLD and mpi://SELF", sets));
    std::vector<std::string> names;
    for (int n = 0; n < sets; ++n) {
        names.push_back(name_of_set(mpi, session, n));
        mpi.check("env.psets.stay", names.back() == name_of_set(mpi, session, n), finding::value,
                  fmt::format("the name of process set {} is another one the second time", n));
    }
    for (char const* known : {"mpi://WORLD", "mpi://SELF"}) {
        mpi.check("env.psets.mandated", std::count(names.begin(), names.end(), known) == 1, finding::value,
                  fmt::format("{} is not one of the {} process sets", known, sets));
        int const expected = std::strcmp(known, "mpi://SELF") == 0 ? 1 : mpi.the_job.np;
        int const size = size_of_set(mpi, session, known);
        mpi.check("env.psets.size", size == expected, finding::info,
                  fmt::format("mpi_size of {} is {}, expected {}", known, size, expected));
    }
    for (auto const& name : names) {
        if (name.empty()) continue;
        MPI_Group group = MPI_GROUP_NULL;
        int size = -7;
        if (!succeeded(mpi, MPI_Group_from_session_pset(session, name.c_str(), &group))) continue;
        succeeded(mpi, MPI_Group_size(group, &size));
        int const said = size_of_set(mpi, session, name);
        mpi.check("env.psets.size", size == said, finding::info,
                  fmt::format("the group of {} has {} processes, its mpi_size is {}", name, size, said));
        succeeded(mpi, MPI_Group_free(&group));
    }
    succeeded(mpi, MPI_Session_finalize(&session));
}

} // namespace

ASSAY_TEST(env, psets,
           requirements{"env.psets.mandated", "env.psets.name_room", "env.psets.size", "env.psets.stay",
                        "env.session.alone"},
           over(axis_use{&moments}), own_job{},
           needs_procedures({"MPI_Session_init", "MPI_Session_get_num_psets", "MPI_Session_get_nth_pset",
                             "MPI_Session_get_pset_info", "MPI_Group_from_session_pset", "MPI_Info_get_string"})) {
    auto const when = mpi.at(moments);
    if (when == moment::before) look(mpi);
    initialize(mpi);
    if (when == moment::within) look(mpi);
    finalize(mpi);
    if (when == moment::after) look(mpi);
}

// A test of its own: libraries that are wrong here are right in the rest.
ASSAY_TEST(env, pset_length, requirements{"env.psets.name_room"}, over(), own_job{},
           needs_procedures({"MPI_Session_init", "MPI_Session_get_num_psets", "MPI_Session_get_nth_pset"}),
           note{"MPI_Session_get_nth_pset says how much room a name needs, whether it had less, as much or more"}) {
    initialize(mpi);
    MPI_Session session = MPI_SESSION_NULL;
    if (succeeded(mpi, MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session))) {
        int sets = 0;
        succeeded(mpi, MPI_Session_get_num_psets(session, MPI_INFO_NULL, &sets));
        for (int n = 0; n < sets; ++n) {
            int needed = 0;
            char none = '-';
            succeeded(mpi, MPI_Session_get_nth_pset(session, MPI_INFO_NULL, n, &needed, &none));
            for (int given : {needed - 1, needed, needed + 7}) {
                std::string text(static_cast<std::size_t>(std::max(given, 1)), '-');
                int length = given;
                succeeded(mpi, MPI_Session_get_nth_pset(session, MPI_INFO_NULL, n, &length, text.data()));
                mpi.check("env.psets.name_room", length == needed, finding::value,
                          fmt::format("process set {}: pset_len is {} after a call with room for {}, {} after one "
                                      "with room for 0",
                                      n, length, given, needed));
            }
        }
        succeeded(mpi, MPI_Session_finalize(&session));
    }
    finalize(mpi);
}
