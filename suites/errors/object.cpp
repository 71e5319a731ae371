#include "suites/errors/object.hpp"

#include <fmt/format.h>
#include <unistd.h>

namespace assay::errors {
namespace {

std::vector<call> told;
MPI_Comm current_comm = MPI_COMM_NULL;
MPI_Win current_window = MPI_WIN_NULL;
MPI_File current_file = MPI_FILE_NULL;
MPI_Session current_session = MPI_SESSION_NULL;

// What is passed beyond the first two arguments is the library's own affair.
template <int who> void on_comm(MPI_Comm* comm, int* code, ...) { told.push_back({who, *code, *comm == current_comm}); }
template <int who> void on_window(MPI_Win* win, int* code, ...) {
    told.push_back({who, *code, *win == current_window});
}
template <int who> void on_file(MPI_File* file, int* code, ...) { told.push_back({who, *code, *file == current_file}); }
template <int who> void on_session(MPI_Session* session, int* code, ...) {
    told.push_back({who, *code, *session == current_session});
}

} // namespace

axis<kind> const& kinds() {
    static axis<kind> const all(
        "object", {{{"comm", "a communicator"}, kind::comm},
                   {{"window", "a window"}, kind::window},
                   {{"file", "a file", needs_procedures({"MPI_File_open"})}, kind::file},
                   {{"session", "a session", needs_procedures({"MPI_Session_set_errhandler"})}, kind::session}});
    return all;
}

std::vector<call>& calls() { return told; }

object::object(test_run& mpi, kind k) : mpi_(mpi), kind_(k) {
    told.clear();
    switch (kind_) {
    case kind::comm:
        mpi.ok(MPI_Comm_dup(MPI_COMM_SELF, &comm_));
        current_comm = comm_;
        break;
    case kind::window:
        mpi.ok(MPI_Win_create(nullptr, 0, 1, MPI_INFO_NULL, MPI_COMM_SELF, &window_));
        current_window = window_;
        break;
    case kind::file: {
        auto const path = fmt::format("{}/errors-{}", mpi.the_job.scratch, getpid());
        mpi.ok(MPI_File_open(MPI_COMM_SELF, path.c_str(), MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                             MPI_INFO_NULL, &file_));
        current_file = file_;
        break;
    }
    case kind::session:
        mpi.ok(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session_));
        current_session = session_;
        break;
    }
}

object::~object() {
    if (comm_ != MPI_COMM_NULL) mpi_.ok(MPI_Comm_free(&comm_));
    if (window_ != MPI_WIN_NULL) mpi_.ok(MPI_Win_free(&window_));
    if (file_ != MPI_FILE_NULL) mpi_.ok(MPI_File_close(&file_));
    if (session_ != MPI_SESSION_NULL) mpi_.ok(MPI_Session_finalize(&session_));
}

int create_for_comm(int who, MPI_Errhandler* handler) {
    return MPI_Comm_create_errhandler(who == 0 ? on_comm<0> : on_comm<1>, handler);
}

void expect_comm(MPI_Comm expected) {
    told.clear();
    current_comm = expected;
}

int object::create(int who, MPI_Errhandler* handler) const {
    switch (kind_) {
    case kind::comm: return create_for_comm(who, handler);
    case kind::window: return MPI_Win_create_errhandler(who == 0 ? on_window<0> : on_window<1>, handler);
    case kind::file: return MPI_File_create_errhandler(who == 0 ? on_file<0> : on_file<1>, handler);
    case kind::session: return MPI_Session_create_errhandler(who == 0 ? on_session<0> : on_session<1>, handler);
    }
    return MPI_ERR_OTHER;
}

int object::set(MPI_Errhandler handler) const {
    switch (kind_) {
    case kind::comm: return MPI_Comm_set_errhandler(comm_, handler);
    case kind::window: return MPI_Win_set_errhandler(window_, handler);
    case kind::file: return MPI_File_set_errhandler(file_, handler);
    case kind::session: return MPI_Session_set_errhandler(session_, handler);
    }
    return MPI_ERR_OTHER;
}

int object::get(MPI_Errhandler* handler) const {
    switch (kind_) {
    case kind::comm: return MPI_Comm_get_errhandler(comm_, handler);
    case kind::window: return MPI_Win_get_errhandler(window_, handler);
    case kind::file: return MPI_File_get_errhandler(file_, handler);
    case kind::session: return MPI_Session_get_errhandler(session_, handler);
    }
    return MPI_ERR_OTHER;
}

int object::call_handler(int code) const {
    switch (kind_) {
    case kind::comm: return MPI_Comm_call_errhandler(comm_, code);
    case kind::window: return MPI_Win_call_errhandler(window_, code);
    case kind::file: return MPI_File_call_errhandler(file_, code);
    case kind::session: return MPI_Session_call_errhandler(session_, code);
    }
    return MPI_ERR_OTHER;
}

char const* object::name() const {
    switch (kind_) {
    case kind::comm: return "MPI_Comm";
    case kind::window: return "MPI_Win";
    case kind::file: return "MPI_File";
    case kind::session: return "MPI_Session";
    }
    return "";
}

void expect_one_call(test_run& mpi, int who, int code, char const* why, std::source_location where) {
    if (mpi.check(told.size() == 1, finding::value,
                  fmt::format("{}: {} handlers were called, expected 1", why, told.size()), where)) {
        auto const& one = told.front();
        mpi.check(one.who == who, finding::value,
                  fmt::format("{}: handler {} was called, expected {}", why, one.who, who), where);
        mpi.check(one.code == code, finding::error,
                  fmt::format("{}: the handler got code {}, expected {}", why, one.code, code), where);
        mpi.check(one.right_object, finding::value,
                  fmt::format("{}: the handler got another object than the call", why), where);
    }
    told.clear();
}

void expect_no_call(test_run& mpi, char const* why, std::source_location where) {
    mpi.check(told.empty(), finding::value, fmt::format("{}: {} handlers were called, expected none", why, told.size()),
              where);
    told.clear();
}

} // namespace assay::errors
