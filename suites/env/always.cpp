// What may be called at any time: before MPI_Init and after MPI_Finalize (MPI-5.0 section 11.4.1, table 9).
#include "framework/check/logical.hpp"
#include "framework/mpi/own_job.hpp"
#include "framework/mpi/run.hpp"

#include <array>
#include <cstring>
#include <fmt/format.h>

using namespace assay;

namespace {

enum class topic {
    versions,
    info,
    info_env,
    session_handler,
    handler_free,
    error_text,
    error_codes,
    error_removal,
    abi
};
axis<topic> const
    topics("what", {{{"versions", "MPI_Get_version, MPI_Get_library_version"}, topic::versions},
                    {{"info", "MPI_Info_create, …_set, …_get_string, …_dup, …"}, topic::info},
                    {{"info_env", "MPI_Info_create_env"}, topic::info_env},
                    {{"session_handler", "MPI_Session_create_errhandler, MPI_Errhandler_free"}, topic::session_handler},
                    {{"errhandler_free", "MPI_Errhandler_free of a handler for sessions"}, topic::handler_free},
                    {{"error_text", "MPI_Error_class, MPI_Error_string"}, topic::error_text},
                    {{"error_codes", "MPI_Add_error_class, …_code, …_string"}, topic::error_codes},
                    {{"error_removal", "MPI_Remove_error_string, …_code, …_class"}, topic::error_removal},
                    {{"abi", "MPI_Abi_get_version, MPI_Abi_get_info"}, topic::abi}});
enum class moment { before, after };
axis<moment> const moments("when", {{{"before", "before MPI_Init"}, moment::before},
                                    {{"after", "after MPI_Finalize"}, moment::after}});

// MPI-4.0 widened what may be called before MPI_Init, for the sake of sessions: who has them has to allow it.
void needs_wider_rules(test_run& mpi) { mpi.needs_procedure("MPI_Session_init"); }

void versions(test_run& mpi) {
    int version = -7, subversion = -7, length = -7;
    std::array<char, MPI_MAX_LIBRARY_VERSION_STRING + 1> text{};
    succeeded(mpi, MPI_Get_version(&version, &subversion));
    mpi.check(version >= 1 && subversion >= 0, finding::value,
              fmt::format("MPI_Get_version gives {}.{}", version, subversion));
    succeeded(mpi, MPI_Get_library_version(text.data(), &length));
    mpi.check(length > 0 && length == static_cast<int>(std::strlen(text.data())), finding::value,
              fmt::format("MPI_Get_library_version gives the length {} for \"{}\"", length, text.data()));
}

void expect_value(test_run& mpi, MPI_Info info, char const* key, char const* expected) {
    std::array<char, 64> value{};
    bool const there = expected != nullptr;
    int length = static_cast<int>(value.size()), flag = opposite(there);
    succeeded(mpi, MPI_Info_get_string(info, key, &length, value.data(), &flag));
    mpi.check(logical(flag) == there && (!there || std::strcmp(value.data(), expected) == 0), finding::data,
              fmt::format("MPI_Info_get_string of {} gives flag {} and \"{}\", expected {} and \"{}\"", key, flag,
                          value.data(), static_cast<int>(there), there ? expected : ""));
}

void info(test_run& mpi) {
    mpi.needs_procedure("MPI_Info_get_string");
    needs_wider_rules(mpi);
    MPI_Info one = MPI_INFO_NULL, copy = MPI_INFO_NULL;
    succeeded(mpi, MPI_Info_create(&one));
    succeeded(mpi, MPI_Info_set(one, "early", "bird"));
    succeeded(mpi, MPI_Info_set(one, "late", "worm"));
    expect_value(mpi, one, "early", "bird");
    succeeded(mpi, MPI_Info_dup(one, &copy));
    succeeded(mpi, MPI_Info_delete(one, "early"));
    expect_value(mpi, one, "early", nullptr);
    expect_value(mpi, copy, "early", "bird");
    int keys = -7;
    succeeded(mpi, MPI_Info_get_nkeys(copy, &keys));
    mpi.check(keys == 2, finding::value, fmt::format("MPI_Info_get_nkeys gives {}, expected 2", keys));
    std::array<char, MPI_MAX_INFO_KEY + 1> key{};
    succeeded(mpi, MPI_Info_get_nthkey(one, 0, key.data()));
    mpi.check(std::strcmp(key.data(), "late") == 0, finding::data,
              fmt::format("MPI_Info_get_nthkey gives \"{}\", expected \"late\"", key.data()));
    succeeded(mpi, MPI_Info_free(&one));
    succeeded(mpi, MPI_Info_free(&copy));
    mpi.check(one == MPI_INFO_NULL && copy == MPI_INFO_NULL, finding::value,
              "MPI_Info_free does not set the handle to MPI_INFO_NULL");
}

void info_env(test_run& mpi) {
    mpi.needs_procedure("MPI_Info_create_env");
    MPI_Info made = MPI_INFO_NULL;
    auto const& arguments = arguments_of_main();
    if (!succeeded(mpi, MPI_Info_create_env(*arguments.count, *arguments.words, &made))) return;
    int keys = -7;
    mpi.check(made != MPI_INFO_NULL, finding::value, "MPI_Info_create_env gives MPI_INFO_NULL");
    succeeded(mpi, MPI_Info_get_nkeys(made, &keys));
    mpi.check(keys >= 0, finding::value, fmt::format("MPI_Info_get_nkeys gives {}", keys));
    succeeded(mpi, MPI_Info_set(made, "mine", "too")); // it is the user's own
    expect_value(mpi, made, "mine", "too");
    succeeded(mpi, MPI_Info_free(&made));
}

void on_session(MPI_Session*, int*, ...) {}

void session_handler(test_run& mpi, bool freed) {
    mpi.needs_procedure("MPI_Session_create_errhandler");
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    succeeded(mpi, MPI_Session_create_errhandler(on_session, &handler));
    mpi.check(handler != MPI_ERRHANDLER_NULL, finding::value,
              "MPI_Session_create_errhandler gives MPI_ERRHANDLER_NULL");
    if (!freed) return;
    succeeded(mpi, MPI_Errhandler_free(&handler));
    mpi.check(handler == MPI_ERRHANDLER_NULL, finding::value,
              "MPI_Errhandler_free does not set the handle to MPI_ERRHANDLER_NULL");
}

void expect_text(test_run& mpi, int code, char const* expected, char const* what) {
    std::array<char, MPI_MAX_ERROR_STRING + 1> text{};
    int length = -7;
    succeeded(mpi, MPI_Error_string(code, text.data(), &length));
    mpi.check(length == static_cast<int>(std::strlen(text.data())) &&
                  (expected == nullptr ? length > 0 : std::strcmp(text.data(), expected) == 0),
              finding::data,
              fmt::format("MPI_Error_string of {} gives \"{}\", length {}; expected {}", what, text.data(), length,
                          expected == nullptr ? "some text" : expected));
}

void error_text(test_run& mpi) {
    for (int code : {MPI_ERR_COMM, MPI_ERR_OTHER, MPI_SUCCESS}) {
        int error_class = -7;
        succeeded(mpi, MPI_Error_class(code, &error_class));
        mpi.check(error_class == code, finding::error,
                  fmt::format("MPI_Error_class of {} gives {}", code, error_class));
        expect_text(mpi, code, nullptr, "a class of MPI");
    }
}

void error_codes(test_run& mpi, bool removal) {
    if (removal) mpi.needs_procedure("MPI_Remove_error_class");
    needs_wider_rules(mpi);
    int error_class = -7, code = -7, found = -7;
    succeeded(mpi, MPI_Add_error_class(&error_class));
    succeeded(mpi, MPI_Add_error_code(error_class, &code));
    succeeded(mpi, MPI_Add_error_string(code, "out of season"));
    succeeded(mpi, MPI_Error_class(code, &found));
    mpi.check(error_class > MPI_ERR_LASTCODE && code > MPI_ERR_LASTCODE && found == error_class, finding::error,
              fmt::format("a new class is {}, a new code {}, and its class {}", error_class, code, found));
    expect_text(mpi, code, "out of season", "a code of the user");
    if (!removal) return;
    succeeded(mpi, MPI_Remove_error_string(code));
    expect_text(mpi, code, "", "a code whose text was removed");
    succeeded(mpi, MPI_Remove_error_code(code));
    succeeded(mpi, MPI_Remove_error_class(error_class));
}

void abi(test_run& mpi) {
    mpi.needs_procedure("MPI_Abi_get_version");
    mpi.needs_procedure("MPI_Abi_get_info");
    int major = -7, minor = -7;
    succeeded(mpi, MPI_Abi_get_version(&major, &minor));
    // -1 says that the library has no standard ABI.
    mpi.check((major == -1 && minor == -1) || (major >= 1 && minor >= 0), finding::value,
              fmt::format("MPI_Abi_get_version gives {}.{}", major, minor));
    MPI_Info about = MPI_INFO_NULL;
    succeeded(mpi, MPI_Abi_get_info(&about));
    if (mpi.check(about != MPI_INFO_NULL, finding::value, "MPI_Abi_get_info gives MPI_INFO_NULL"))
        succeeded(mpi, MPI_Info_free(&about));
}

void call(test_run& mpi, topic what) {
    switch (what) {
    case topic::versions: return versions(mpi);
    case topic::info: return info(mpi);
    case topic::info_env: return info_env(mpi);
    case topic::session_handler: return session_handler(mpi, false);
    case topic::handler_free: return session_handler(mpi, true);
    case topic::error_text: return error_text(mpi);
    case topic::error_codes: return error_codes(mpi, false);
    case topic::error_removal: return error_codes(mpi, true);
    case topic::abi: return abi(mpi);
    }
}

} // namespace

ASSAY_TEST(env, always,
           requirements{"env.always.versions", "env.always.info", "env.always.errhandler", "env.always.error_text",
                        "env.always.error_codes", "env.always.abi"},
           over(axis_use{&topics}, axis_use{&moments}), own_job{}) {
    if (mpi.at(moments) == moment::after) {
        initialize(mpi);
        finalize(mpi);
        return call(mpi, mpi.at(topics));
    }
    call(mpi, mpi.at(topics));
    // It has not spoilt what comes.
    auto const world = initialize(mpi);
    mpi.check(world.size == mpi.the_job.np, finding::value,
              fmt::format("MPI_COMM_WORLD has {} processes, {} were started", world.size, mpi.the_job.np));
    finalize(mpi);
}

// An info that was made before MPI_Init, and a code that was added, are there in the world and after it.
ASSAY_TEST(env, lasting, requirements{"env.always.lasting"}, over(), own_job{},
           needs_procedures({"MPI_Info_get_string", "MPI_Session_init"})) {
    MPI_Info one = MPI_INFO_NULL;
    succeeded(mpi, MPI_Info_create(&one));
    succeeded(mpi, MPI_Info_set(one, "kept", "all the way"));
    initialize(mpi);
    expect_value(mpi, one, "kept", "all the way");
    MPI_Comm comm = MPI_COMM_NULL;
    mpi.ok(MPI_Comm_dup_with_info(MPI_COMM_SELF, one, &comm));
    mpi.ok(MPI_Comm_free(&comm));
    finalize(mpi);
    expect_value(mpi, one, "kept", "all the way");
    succeeded(mpi, MPI_Info_free(&one));
}

ASSAY_TEST(env, lasting_error_class, requirements{"env.always.lasting"}, over(), own_job{},
           needs_procedures({"MPI_Session_init"})) {
    int error_class = -7;
    succeeded(mpi, MPI_Add_error_class(&error_class));
    succeeded(mpi, MPI_Add_error_string(error_class, "kept, too"));
    initialize(mpi);
    expect_text(mpi, error_class, "kept, too", "a class that was added before MPI_Init");
    finalize(mpi);
    expect_text(mpi, error_class, "kept, too", "a class that was added before MPI_Init, after MPI_Finalize");
}
