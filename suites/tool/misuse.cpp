// Return codes of the tools interface (MPI-5.0 section 15.3.10): names, indices and handles that do not exist.
#include "framework/process/erroneous.hpp"
#include "suites/tool/tool.hpp"

#include <array>
#include <fmt/format.h>
#include <string_view>

using namespace assay;
using namespace assay::tool;

namespace {

int handled = 0; // calls of the error handlers of MPI
void count_errors(MPI_Comm*, int*, ...) { ++handled; }

// Calls that fail as the standard says, so that they are no wrong use.
struct failing {
    char const* call;
    int (*fails)();
};
axis<failing> const failures("call", {{{"cvar_get_index", "of a name that no control variable has"},
                                       {"MPI_T_cvar_get_index",
                                        []() -> int {
                                            int index = 0;
                                            return MPI_T_cvar_get_index("no such name", &index);
                                        }}},
                                      {{"pvar_get_index", "of a name that no performance variable has"},
                                       {"MPI_T_pvar_get_index",
                                        []() -> int {
                                            int index = 0;
                                            return MPI_T_pvar_get_index("no such name", MPI_T_PVAR_CLASS_COUNTER,
                                                                        &index);
                                        }}},
                                      {{"category_get_index", "of a name that no category has"},
                                       {"MPI_T_category_get_index",
                                        []() -> int {
                                            int index = 0;
                                            return MPI_T_category_get_index("no such name", &index);
                                        }}},
                                      {{"event_get_index", "of a name that no event type has", needs_events()},
                                       {"MPI_T_event_get_index", []() -> int {
                                            int index = 0;
                                            return MPI_T_event_get_index("no such name", &index);
                                        }}}});

enum class index { minus_one, number, largest };
axis<index> const indices("index", {{{"minus_one", "-1"}, index::minus_one},
                                    {{"number", "one more than the last"}, index::number},
                                    {{"largest", "the largest int"}, index::largest}});

struct indexed {
    char const* call;
    int (*number)(int*);
    int (*with)(int index);
    requirement rests_on;
};
int no_cvars(int* n) { return MPI_T_cvar_get_num(n); }
int no_pvars(int* n) { return MPI_T_pvar_get_num(n); }
int no_categories(int* n) { return MPI_T_category_get_num(n); }
// The enumeration of some control variable, or MPI_T_ENUM_NULL.
MPI_T_enum some_enumeration() {
    int n = 0;
    if (MPI_T_cvar_get_num(&n) != MPI_SUCCESS) return MPI_T_ENUM_NULL;
    for (int i = 0; i < n; ++i) {
        cvar one;
        if (get(i, one) == MPI_SUCCESS && one.values != MPI_T_ENUM_NULL) return one.values;
    }
    return MPI_T_ENUM_NULL;
}
axis<indexed> const calls("call",
                          {{{"cvar_get_info", "MPI_T_cvar_get_info"},
                            {"MPI_T_cvar_get_info", no_cvars,
                             [](int i) -> int {
                                 cvar one;
                                 return get(i, one);
                             },
                             "tools.cvar.bad_index"}},
                           {{"cvar_handle_alloc", "MPI_T_cvar_handle_alloc"},
                            {"MPI_T_cvar_handle_alloc", no_cvars,
                             [](int i) -> int {
                                 MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
                                 int count = 0;
                                 return MPI_T_cvar_handle_alloc(i, nullptr, &handle, &count);
                             },
                             "tools.cvar.bad_index"}},
                           {{"pvar_get_info", "MPI_T_pvar_get_info"},
                            {"MPI_T_pvar_get_info", no_pvars,
                             [](int i) -> int {
                                 pvar one;
                                 return get(i, one);
                             },
                             "tools.pvar.bad_index"}},
                           {{"pvar_handle_alloc", "MPI_T_pvar_handle_alloc"},
                            {"MPI_T_pvar_handle_alloc", no_pvars,
                             [](int i) -> int {
                                 MPI_T_pvar_session session = MPI_T_PVAR_SESSION_NULL;
                                 MPI_T_pvar_handle handle = MPI_T_PVAR_HANDLE_NULL;
                                 int count = 0;
                                 if (int const code = MPI_T_pvar_session_create(&session); code != MPI_SUCCESS)
                                     return code;
                                 int const code = MPI_T_pvar_handle_alloc(session, i, nullptr, &handle, &count);
                                 MPI_T_pvar_session_free(&session);
                                 return code;
                             },
                             "tools.pvar.bad_index"}},
                           {{"category_get_info", "MPI_T_category_get_info"},
                            {"MPI_T_category_get_info", no_categories,
                             [](int i) -> int {
                                 category one;
                                 return get(i, one);
                             },
                             "tools.category.bad_index"}},
                           {{"category_get_cvars", "MPI_T_category_get_cvars"},
                            {"MPI_T_category_get_cvars", no_categories,
                             [](int i) -> int {
                                 int found[4] = {};
                                 return MPI_T_category_get_cvars(i, 4, found);
                             },
                             "tools.category.bad_index"}},
                           {{"category_get_pvars", "MPI_T_category_get_pvars"},
                            {"MPI_T_category_get_pvars", no_categories,
                             [](int i) -> int {
                                 int found[4] = {};
                                 return MPI_T_category_get_pvars(i, 4, found);
                             },
                             "tools.category.bad_index"}},
                           {{"category_get_categories", "MPI_T_category_get_categories"},
                            {"MPI_T_category_get_categories", no_categories,
                             [](int i) -> int {
                                 int found[4] = {};
                                 return MPI_T_category_get_categories(i, 4, found);
                             },
                             "tools.category.bad_index"}},
                           {{"enum_get_item", "MPI_T_enum_get_item"},
                            {"MPI_T_enum_get_item",
                             [](int* n) -> int { return MPI_T_enum_get_info(some_enumeration(), n, nullptr, nullptr); },
                             [](int i) -> int {
                                 int value = 0, length = 0;
                                 return MPI_T_enum_get_item(some_enumeration(), i, &value, nullptr, &length);
                             },
                             "tools.enum.bad_index"}}});

struct handled_call {
    char const* call;
    int (*with_null)();
    int expected;
    requirement rests_on;
};
axis<handled_call> const
    handles("call", {{{"cvar_read", "MPI_T_cvar_read"},
                      {"MPI_T_cvar_read",
                       []() -> int {
                           int value[4] = {};
                           return MPI_T_cvar_read(MPI_T_CVAR_HANDLE_NULL, value);
                       },
                       MPI_T_ERR_INVALID_HANDLE, "tools.cvar.bad_handle"}},
                     {{"cvar_write", "MPI_T_cvar_write"},
                      {"MPI_T_cvar_write",
                       []() -> int {
                           int const value[4] = {};
                           return MPI_T_cvar_write(MPI_T_CVAR_HANDLE_NULL, value);
                       },
                       MPI_T_ERR_INVALID_HANDLE, "tools.cvar.bad_handle"}},
                     {{"cvar_handle_free", "MPI_T_cvar_handle_free"},
                      {"MPI_T_cvar_handle_free",
                       []() -> int {
                           MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
                           return MPI_T_cvar_handle_free(&handle);
                       },
                       MPI_T_ERR_INVALID_HANDLE, "tools.cvar.bad_handle"}},
                     {{"pvar_session_free", "MPI_T_pvar_session_free"},
                      {"MPI_T_pvar_session_free",
                       []() -> int {
                           MPI_T_pvar_session session = MPI_T_PVAR_SESSION_NULL;
                           return MPI_T_pvar_session_free(&session);
                       },
                       MPI_T_ERR_INVALID_SESSION, "tools.pvar.bad_session"}},
                     {{"pvar_start", "MPI_T_pvar_start"},
                      {"MPI_T_pvar_start",
                       []() -> int { return MPI_T_pvar_start(MPI_T_PVAR_SESSION_NULL, MPI_T_PVAR_ALL_HANDLES); },
                       MPI_T_ERR_INVALID_SESSION, "tools.pvar.bad_session"}}});

using all_handles_call = int (*)(MPI_T_pvar_session, void*);
axis<all_handles_call> const
    not_all("call",
            {{{"read", "MPI_T_pvar_read"},
              [](MPI_T_pvar_session s, void* v) -> int { return MPI_T_pvar_read(s, MPI_T_PVAR_ALL_HANDLES, v); }},
             {{"write", "MPI_T_pvar_write"},
              [](MPI_T_pvar_session s, void* v) -> int { return MPI_T_pvar_write(s, MPI_T_PVAR_ALL_HANDLES, v); }},
             {{"readreset", "MPI_T_pvar_readreset"}, [](MPI_T_pvar_session s, void* v) -> int {
                  return MPI_T_pvar_readreset(s, MPI_T_PVAR_ALL_HANDLES, v);
              }}});

bool is_own_code(int code) { return name_of_code(code).starts_with("MPI_T_ERR_"); }

} // namespace

ASSAY_TEST(tool, failures,
           requirements{"tools.not_fatal", "tools.no_error_handler", "tools.codes.range", "tools.codes.own"},
           over(axis_use{&failures})) {
    open(mpi);
    MPI_Errhandler counting = MPI_ERRHANDLER_NULL;
    must(MPI_Comm_create_errhandler(count_errors, &counting), "MPI_Comm_create_errhandler");
    std::array<MPI_Errhandler, 2> before{};
    std::array<MPI_Comm, 2> const comms{MPI_COMM_WORLD, MPI_COMM_SELF};
    for (std::size_t i = 0; i < 2; ++i) {
        mpi.ok(MPI_Comm_get_errhandler(comms[i], &before[i]));
        mpi.ok(MPI_Comm_set_errhandler(comms[i], counting));
    }
    handled = 0;
    auto const& f = mpi.at(failures);
    int const code = f.fails();
    int const called = handled;
    for (std::size_t i = 0; i < 2; ++i) {
        mpi.ok(MPI_Comm_set_errhandler(comms[i], before[i]));
        mpi.ok(MPI_Errhandler_free(&before[i]));
    }
    mpi.ok(MPI_Errhandler_free(&counting));
    mpi.check("tools.no_error_handler", called == 0, finding::error,
              fmt::format("{} calls an error handler of MPI", f.call));
    mpi.check("tools.codes.range", code > MPI_SUCCESS && code <= MPI_ERR_LASTCODE, finding::return_,
              fmt::format("{} returns {}, which is not between 0 and MPI_ERR_LASTCODE", f.call, code));
    mpi.check("tools.codes.own", is_own_code(code), finding::return_,
              fmt::format("{} returns {}, which is none of MPI_T_ERR_*", f.call, code));
    auto const rest = mpi.resting_on("tools.not_fatal");
    stir(mpi);
}

ASSAY_TEST(tool, bad_index,
           requirements{"tools.cvar.bad_index", "tools.pvar.bad_index", "tools.category.bad_index",
                        "tools.enum.bad_index"},
           over(axis_use{&calls}, axis_use{&indices})) {
    open(mpi);
    auto const& c = mpi.at(calls);
    bool const of_enum = std::string_view(c.call) == "MPI_T_enum_get_item";
    if (of_enum && some_enumeration() == MPI_T_ENUM_NULL)
        mpi.unsupported("no control variable of the MPI library has an enumeration");
    int n = 0;
    succeeded(mpi, c.number(&n), "the procedure that says how many there are");
    int const bad = mpi.at(indices) == index::minus_one ? -1 : mpi.at(indices) == index::number ? n : 0x7fffffff;
    erroneous_from_here();
    int const code = c.with(bad);
    auto const rest = mpi.resting_on(c.rests_on);
    if (of_enum && code == MPI_T_ERR_INVALID_ITEM && followed_version() < 40) return;
    returned(mpi, code, MPI_T_ERR_INVALID_INDEX, fmt::format("{} of index {}", c.call, bad));
}

ASSAY_TEST(tool, bad_handle, requirements{"tools.cvar.bad_handle", "tools.pvar.bad_session"},
           over(axis_use{&handles})) {
    open(mpi);
    auto const& c = mpi.at(handles);
    erroneous_from_here();
    int const code = c.with_null();
    auto const rest = mpi.resting_on(c.rests_on);
    returned(mpi, code, c.expected, std::string(c.call) + " of a null handle");
}

ASSAY_TEST(tool, pvar_not_all, requirements{"tools.pvar.not_all"}, over(axis_use{&not_all})) {
    open(mpi);
    MPI_T_pvar_session session = MPI_T_PVAR_SESSION_NULL;
    succeeded(mpi, MPI_T_pvar_session_create(&session), "MPI_T_pvar_session_create");
    std::array<double, 16> value{};
    erroneous_from_here();
    int const code = mpi.at(not_all)(session, value.data());
    mpi.check(code != MPI_SUCCESS, finding::return_, "MPI_T_PVAR_ALL_HANDLES is accepted");
    MPI_T_pvar_session_free(&session);
}
