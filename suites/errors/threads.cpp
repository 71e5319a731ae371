// What must be safe in several threads at once, whatever the level of thread support (MPI-5.0 sections 9.1.1, 9.3.5, 9.4, 9.5.1
// and 11.2.3).
#include "framework/check/logical.hpp"
#include "framework/mpi/run.hpp"

#include <array>
#include <fmt/format.h>
#include <map>
#include <mutex>

using namespace assay;

ASSAY_TEST(errors, threads, requirements{"errors.thread_safe", "env.inquiries.thread_safe"}, over(), own_threads{4}) {
    std::mutex mutex;
    std::map<int, int> given; // class or code → the thread that got it
    auto const take = [&](test_run& mine, int value, char const* what) {
        std::lock_guard const lock(mutex);
        auto const [other, fresh] = given.emplace(value, mine.thread());
        mine.check(fresh, finding::error,
                   fmt::format("the new {} {} was given to thread {}, too", what, value, other->second));
    };
    mpi.in_threads(4, false, [&](test_run& mine) {
        for (int i = 0; i < 10; ++i) {
            int error_class = -7, code = -7, found = -7, length = -7;
            auto const expected = fmt::format("text {} of thread {}", i, mine.thread());
            mine.ok(MPI_Add_error_class(&error_class));
            mine.ok(MPI_Add_error_code(error_class, &code));
            mine.ok(MPI_Add_error_string(code, expected.c_str()));
            take(mine, error_class, "class");
            take(mine, code, "code");
            mine.ok(MPI_Error_class(code, &found));
            mine.check(found == error_class, finding::error,
                       fmt::format("MPI_Error_class gives {}, expected {}", found, error_class));
            std::array<char, MPI_MAX_ERROR_STRING + 1> text{};
            mine.ok(MPI_Error_string(code, text.data(), &length));
            mine.check(text.data() == expected, finding::data,
                       fmt::format("MPI_Error_string gives \"{}\", expected \"{}\"", text.data(), expected));
            int version = -7, subversion = -7, initialized = 0, finalized = 1;
            mine.ok(MPI_Get_version(&version, &subversion));
            mine.ok(MPI_Initialized(&initialized));
            mine.ok(MPI_Finalized(&finalized));
            std::array<char, MPI_MAX_LIBRARY_VERSION_STRING + 1> library{};
            mine.ok(MPI_Get_library_version(library.data(), &length));
            mine.check(
                version >= 1 && logical(initialized) && !logical(finalized) && length > 0, finding::value,
                fmt::format("a thread learns: version {}.{}, initialized {}, finalized {}, a library's version of {} "
                            "characters",
                            version, subversion, initialized, finalized, length));
        }
    });
    if (!has_procedure("MPI_Remove_error_string")) return;
    // In the end nothing is left: codes before their classes, which have the smaller values of each pair or not.
    std::vector<int> classes;
    for (auto const& [value, thread] : given) {
        int of = -7;
        mpi.ok(MPI_Error_class(value, &of));
        if (of == value) {
            classes.push_back(value);
            continue;
        }
        mpi.ok(MPI_Remove_error_string(value));
        mpi.ok(MPI_Remove_error_code(value));
    }
    for (int value : classes) mpi.ok(MPI_Remove_error_class(value));
}
