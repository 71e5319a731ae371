// Error handlers of communicators, windows, files and sessions: created, attached, called, freed (MPI-5.0 sections 9.3 and
// 9.5.2).
#include "suites/errors/object.hpp"

#include <fmt/format.h>
#include <unistd.h>

using namespace assay;
using errors::kinds;
using errors::object;

namespace {

void free_handler(test_run& mpi, MPI_Errhandler& handler) {
    mpi.ok(MPI_Errhandler_free(&handler));
    mpi.check(handler == MPI_ERRHANDLER_NULL, finding::value,
              "MPI_Errhandler_free does not set the handle to MPI_ERRHANDLER_NULL");
}

MPI_Errhandler create(test_run& mpi, object const& what, int who) {
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    mpi.ok(what.create(who, &handler));
    mpi.check(handler != MPI_ERRHANDLER_NULL, finding::value,
              fmt::format("{}_create_errhandler gives MPI_ERRHANDLER_NULL", what.name()));
    return handler;
}

// Errors of any class may be handed to any handler; two of these codes are none (errors.call.no_error).
enum class which_code { success, argument, last, user_class, user_code };
bool is_error(which_code which) { return which != which_code::success && which != which_code::last; }
axis<which_code> const codes("code", {{{"other", "MPI_ERR_OTHER"}, which_code::argument},
                                      {{"success", "MPI_SUCCESS"}, which_code::success},
                                      {{"lastcode", "MPI_ERR_LASTCODE"}, which_code::last},
                                      {{"user_class", "a class of the user"}, which_code::user_class},
                                      {{"user_code", "a code of the user"}, which_code::user_code}});

int code_of(test_run& mpi, which_code which) {
    static int user_class = -1, user_code = -1;
    if (user_class < 0) {
        mpi.ok(MPI_Add_error_class(&user_class));
        mpi.ok(MPI_Add_error_code(user_class, &user_code));
    }
    switch (which) {
    case which_code::success: return MPI_SUCCESS;
    case which_code::argument: return MPI_ERR_OTHER;
    case which_code::last: return MPI_ERR_LASTCODE;
    case which_code::user_class: return user_class;
    case which_code::user_code: return user_code;
    }
    return MPI_ERR_OTHER;
}

} // namespace

ASSAY_TEST(errors, call,
           requirements{"errors.create", "errors.set", "errors.call", "errors.call.code", "errors.call.no_error"},
           over(axis_use{&kinds()}, axis_use{&codes})) {
    object const what(mpi, mpi.at(kinds()));
    int const code = code_of(mpi, mpi.at(codes));
    auto handler = create(mpi, what, 0);
    mpi.ok(what.set(handler));
    errors::expect_no_call(mpi, "attaching a handler");
    auto const basis =
        mpi.resting_on(is_error(mpi.at(codes)) ? requirement("errors.call") : requirement("errors.call.no_error"));
    mpi.ok(what.call_handler(code)); // MPI_SUCCESS whatever the code: the handler was called
    errors::expect_one_call(mpi, 0, code, "the first call");
    mpi.ok(what.call_handler(code));
    errors::expect_one_call(mpi, 0, code, "the second call");
    free_handler(mpi, handler);
}

ASSAY_TEST(errors, replace, requirements{"errors.set.replaces", "errors.return", "errors.many"},
           over(axis_use{&kinds()})) {
    object const what(mpi, mpi.at(kinds()));
    auto first = create(mpi, what, 0), second = create(mpi, what, 1);
    mpi.ok(what.set(first));
    mpi.ok(what.set(second));
    mpi.ok(what.call_handler(MPI_ERR_OTHER));
    errors::expect_one_call(mpi, 1, MPI_ERR_OTHER, "after a second handler");
    mpi.ok(what.set(MPI_ERRORS_RETURN));
    mpi.ok(what.call_handler(MPI_ERR_OTHER));
    errors::expect_no_call(mpi, "under MPI_ERRORS_RETURN");
    mpi.ok(what.set(first));
    mpi.ok(what.call_handler(MPI_ERR_OTHER));
    errors::expect_one_call(mpi, 0, MPI_ERR_OTHER, "with the first handler again");
    {
        // One handler may serve several objects.
        object const other(mpi, mpi.at(kinds()));
        mpi.ok(other.set(first));
        mpi.ok(other.call_handler(MPI_ERR_OTHER));
        errors::expect_one_call(mpi, 0, MPI_ERR_OTHER, "on another object");
    }
    free_handler(mpi, first);
    free_handler(mpi, second);
}

ASSAY_TEST(errors, free, requirements{"errors.free", "errors.free.deferred"}, over(axis_use{&kinds()})) {
    object const what(mpi, mpi.at(kinds()));
    auto handler = create(mpi, what, 1);
    mpi.ok(what.set(handler));
    free_handler(mpi, handler);
    // Many others come and go: memory that was given back too early would be theirs.
    for (int i = 0; i < 20; ++i) {
        auto other = create(mpi, what, 0);
        free_handler(mpi, other);
    }
    mpi.ok(what.call_handler(MPI_ERR_ARG));
    errors::expect_one_call(mpi, 1, MPI_ERR_ARG, "after MPI_Errhandler_free");
    mpi.ok(what.set(MPI_ERRORS_RETURN)); // the last reference goes
    mpi.ok(what.call_handler(MPI_ERR_ARG));
    errors::expect_no_call(mpi, "under MPI_ERRORS_RETURN");
}

ASSAY_TEST(errors, get, requirements{"errors.get", "errors.get.free", "errors.get.restore"}, over(axis_use{&kinds()})) {
    object const what(mpi, mpi.at(kinds()));
    auto handler = create(mpi, what, 0), other = create(mpi, what, 1);
    mpi.ok(what.set(handler));
    free_handler(mpi, handler);
    MPI_Errhandler saved = MPI_ERRHANDLER_NULL;
    mpi.ok(what.get(&saved));
    if (!mpi.check(saved != MPI_ERRHANDLER_NULL, finding::value,
                   fmt::format("{}_get_errhandler gives MPI_ERRHANDLER_NULL", what.name())))
        return;
    // As a library does: its own handler for a while, then that of the caller again.
    mpi.ok(what.set(other));
    free_handler(mpi, other);
    mpi.ok(what.call_handler(MPI_ERR_OTHER));
    errors::expect_one_call(mpi, 1, MPI_ERR_OTHER, "with a private handler");
    mpi.ok(what.set(saved));
    mpi.ok(what.call_handler(MPI_ERR_OTHER));
    errors::expect_one_call(mpi, 0, MPI_ERR_OTHER, "with the handler of MPI_…_get_errhandler");
    free_handler(mpi, saved);
    mpi.ok(what.call_handler(MPI_ERR_OTHER));
    errors::expect_one_call(mpi, 0, MPI_ERR_OTHER, "after the free of what MPI_…_get_errhandler gave");
    for (int i = 0; i < 5; ++i) {
        mpi.ok(what.get(&saved));
        free_handler(mpi, saved);
    }
    mpi.ok(what.call_handler(MPI_ERR_OTHER));
    errors::expect_one_call(mpi, 0, MPI_ERR_OTHER, "after five of them");
}

namespace {
enum class standing { return_, fatal, abort };
axis<standing> const predefined("handler", {{{"return", "MPI_ERRORS_RETURN"}, standing::return_},
                                            {{"fatal", "MPI_ERRORS_ARE_FATAL"}, standing::fatal},
                                            {{"abort", "MPI_ERRORS_ABORT",
                                              [](job const&) {
                                                  return std::string(MPI_ERRORS_ABORT != MPI_ERRHANDLER_NULL
                                                                         ? ""
                                                                         : "the MPI library has no MPI_ERRORS_ABORT");
                                              }},
                                             standing::abort}});
} // namespace

ASSAY_TEST(errors, predefined, requirements{"errors.predefined"}, over(axis_use{&kinds()}, axis_use{&predefined})) {
    object const what(mpi, mpi.at(kinds()));
    auto const handler = mpi.at(predefined) == standing::return_ ? MPI_ERRORS_RETURN
                         : mpi.at(predefined) == standing::fatal ? MPI_ERRORS_ARE_FATAL
                                                                 : MPI_ERRORS_ABORT;
    mpi.ok(what.set(handler));
    MPI_Errhandler got = MPI_ERRHANDLER_NULL;
    mpi.ok(what.get(&got));
    mpi.check(got == handler, finding::value,
              fmt::format("{}_get_errhandler gives another handler than the predefined one that was set", what.name()));
    if (got != MPI_ERRHANDLER_NULL)
        mpi.ok(MPI_Errhandler_free(&got)); // allowed, and without effect on the predefined one
    mpi.ok(what.get(&got));
    mpi.check(got == handler, finding::value, "MPI_Errhandler_free of what was got has changed what is attached");
    mpi.ok(what.set(MPI_ERRORS_RETURN));
}

// Windows begin with MPI_ERRORS_ARE_FATAL, sessions with what MPI_Session_init was given; files with what MPI_FILE_NULL has,
// which is MPI_ERRORS_RETURN (section 14.7).
ASSAY_TEST(errors, initial, requirements{"errors.initial.window", "errors.initial.file", "errors.initial.session"},
           over(only(kinds(), [](errors::kind k) { return k != errors::kind::comm; }))) {
    object const what(mpi, mpi.at(kinds()));
    MPI_Errhandler got = MPI_ERRHANDLER_NULL;
    mpi.ok(what.get(&got));
    bool const window = mpi.at(kinds()) == errors::kind::window;
    mpi.check(got == (window ? MPI_ERRORS_ARE_FATAL : MPI_ERRORS_RETURN), finding::value,
              fmt::format("{}_get_errhandler of a new object does not give {}", what.name(),
                          window ? "MPI_ERRORS_ARE_FATAL" : "MPI_ERRORS_RETURN"));
    if (got == MPI_ERRORS_RETURN) {
        mpi.ok(what.call_handler(MPI_ERR_OTHER)); // comes back
        errors::expect_no_call(mpi, "on a new object");
    }
}

// What a handler may do: ask MPI about the error, and about the object.
namespace {
int asked_class = -7, asked_length = -7, asked_size = -7, asked_failures = 0;
void asking(MPI_Comm* comm, int* code, ...) {
    char text[MPI_MAX_ERROR_STRING + 1];
    asked_failures += MPI_Error_class(*code, &asked_class) != MPI_SUCCESS;
    asked_failures += MPI_Error_string(*code, text, &asked_length) != MPI_SUCCESS;
    asked_failures += MPI_Comm_size(*comm, &asked_size) != MPI_SUCCESS;
    int const sent = 4711;
    int got = -7;
    asked_failures +=
        MPI_Sendrecv(&sent, 1, MPI_INT, 0, 1, &got, 1, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE) != MPI_SUCCESS;
    asked_failures += got != sent;
}
} // namespace

ASSAY_TEST(errors, within, requirements{"errors.handler_uses_mpi"}, over(communicators::any()),
           where(comm_axis(), [](communicator const& c) { return c.kind != comm_kind::null; })) {
    asked_class = asked_length = asked_size = -7;
    asked_failures = 0;
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    mpi.ok(MPI_Comm_create_errhandler(asking, &handler));
    mpi.ok(MPI_Comm_set_errhandler(mpi.comm, handler));
    mpi.ok(MPI_Errhandler_free(&handler));
    mpi.ok(MPI_Comm_call_errhandler(mpi.comm, MPI_ERR_TAG));
    mpi.ok(MPI_Comm_set_errhandler(mpi.comm, MPI_ERRORS_RETURN));
    mpi.check(asked_failures == 0, finding::value,
              fmt::format("{} of 5 steps in an error handler failed", asked_failures));
    mpi.check(
        asked_class == MPI_ERR_TAG && asked_length > 0 && asked_size == mpi.size, finding::value,
        fmt::format("in an error handler the class is {}, the length of the text {}, the size {}; expected {}, more "
                    "than 0, {}",
                    asked_class, asked_length, asked_size, MPI_ERR_TAG, mpi.size));
}
