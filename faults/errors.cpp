// Error handlers, classes, codes and texts.
#include "core/core.hpp"

#include <csignal>
#include <cstdio>
#include <cstring>
#include <set>

using namespace assay_faults;

namespace {

bool predefined(MPI_Errhandler handler) { return handler == MPI_ERRORS_RETURN || handler == MPI_ERRORS_ARE_FATAL; }

bool works() { return initialized() && !finalized(); }

memory<MPI_Win> last_window(MPI_WIN_NULL); // that got a handler of the user, and the handler
memory<MPI_Errhandler> last_of_window(MPI_ERRHANDLER_NULL);
std::set<int> with_text;
memory<int> codes_added, last_code(-1);

} // namespace

extern "C" {

// ---- Handlers

int MPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler handler) {
    if (is(fault::second_handler_ignored) && !predefined(handler)) {
        MPI_Errhandler before = MPI_ERRHANDLER_NULL;
        PMPI_Comm_get_errhandler(comm, &before);
        if (!predefined(before)) return MPI_SUCCESS;
    }
    int const code = PMPI_Comm_set_errhandler(comm, handler);
    if (is(fault::set_handler_calls_it) && !predefined(handler)) PMPI_Comm_call_errhandler(comm, MPI_ERR_OTHER);
    return code;
}

int MPI_Comm_get_errhandler(MPI_Comm comm, MPI_Errhandler* handler) {
    if (is(fault::get_handler_null)) {
        *handler = MPI_ERRHANDLER_NULL;
        return MPI_SUCCESS;
    }
    return PMPI_Comm_get_errhandler(comm, handler);
}

int MPI_Comm_call_errhandler(MPI_Comm comm, int error) {
    if (is(fault::call_handler_twice)) PMPI_Comm_call_errhandler(comm, error);
    if (is(fault::call_handler_of_self_silent) && comm == MPI_COMM_SELF) return MPI_SUCCESS;
    if (is(fault::call_handler_class_only)) {
        int of = error;
        PMPI_Error_class(error, &of);
        error = of;
    }
    int const code = PMPI_Comm_call_errhandler(comm, error);
    return is(fault::call_handler_returns_code) && error > MPI_ERR_LASTCODE ? error : code;
}

int MPI_Win_set_errhandler(MPI_Win win, MPI_Errhandler handler) {
    if (is(fault::window_never_returns) && handler == MPI_ERRORS_RETURN) return MPI_SUCCESS;
    *last_window = win;
    *last_of_window = handler;
    return PMPI_Win_set_errhandler(win, handler);
}

int MPI_Win_call_errhandler(MPI_Win win, int error) {
    if (is(fault::window_handler_crashes)) {
        MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
        PMPI_Win_get_errhandler(win, &handler);
        if (handler == MPI_ERRORS_ARE_FATAL) std::raise(SIGSEGV);
    }
    return is(fault::window_handler_silent) ? MPI_SUCCESS : PMPI_Win_call_errhandler(win, error);
}

int MPI_File_set_errhandler(MPI_File file, MPI_Errhandler handler) {
    if (is(fault::file_null_handler_ignored) && file == MPI_FILE_NULL) return MPI_SUCCESS;
    return PMPI_File_set_errhandler(file, handler);
}

int MPI_File_get_errhandler(MPI_File file, MPI_Errhandler* handler) {
    int const code = PMPI_File_get_errhandler(file, handler);
    if (is(fault::file_handler_fatal)) *handler = MPI_ERRORS_ARE_FATAL;
    return code;
}

int MPI_File_call_errhandler(MPI_File file, int error) {
    return PMPI_File_call_errhandler(file, is(fault::file_handler_io_only) ? MPI_ERR_IO : error);
}

int MPI_Errhandler_free(MPI_Errhandler* handler) {
    auto const before = *handler;
    if (is(fault::window_handler_dies) && before == *last_of_window && !predefined(before))
        PMPI_Win_set_errhandler(*last_window, MPI_ERRORS_RETURN);
    int const code = PMPI_Errhandler_free(handler);
    if (is(fault::free_keeps_errhandler)) *handler = before;
    return code;
}

#if ASSAY_MPI4
int MPI_Session_get_errhandler(MPI_Session session, MPI_Errhandler* handler) {
    int const code = PMPI_Session_get_errhandler(session, handler);
    if (is(fault::session_handler_forgotten)) *handler = MPI_ERRORS_RETURN;
    return code;
}

int MPI_Session_call_errhandler(MPI_Session session, int error) {
    return is(fault::session_handler_silent) ? MPI_SUCCESS : PMPI_Session_call_errhandler(session, error);
}

int MPI_Session_create_errhandler(MPI_Session_errhandler_function* function, MPI_Errhandler* handler) {
    if (is(fault::session_handler_needs_init) && !works()) return MPI_ERR_OTHER;
    return PMPI_Session_create_errhandler(function, handler);
}
#endif

// ---- Classes, codes, texts

int MPI_Error_class(int code, int* of) {
    if (is(fault::error_class_needs_init) && !works()) return MPI_ERR_OTHER;
    int const result = PMPI_Error_class(code, of);
    if (is(fault::error_class_flavor) && code == MPI_ERR_RMA_FLAVOR) *of = MPI_ERR_OTHER;
    if (is(fault::error_class_zero) && code > MPI_ERR_LASTCODE) *of = MPI_SUCCESS;
    return result;
}

int MPI_Error_string(int code, char* text, int* length) {
    int const result = PMPI_Error_string(code, text, length);
    auto const becomes = [&](char const* other) {
        std::snprintf(text, MPI_MAX_ERROR_STRING, "%s", other);
        *length = static_cast<int>(std::strlen(other));
    };
    if (is(fault::error_string_length)) *length += 1;
    if (is(fault::error_string_overflow)) text[MPI_MAX_ERROR_STRING] = '\0';
    if (is(fault::error_string_empty) && code == MPI_ERR_WIN) becomes("");
    if (is(fault::error_string_of_codes_empty) && code > MPI_ERR_LASTCODE && with_text.count(code) == 0) becomes("");
    if (is(fault::error_string_unknown) && code > MPI_ERR_LASTCODE && *length == 0) becomes("unknown error code");
    return result;
}

int MPI_Add_error_class(int* made) {
    int const code = PMPI_Add_error_class(made);
    if (is(fault::add_error_class_low)) *made = MPI_ERR_LASTCODE;
    return code;
}

int MPI_Add_error_code(int of, int* made) {
    if (is(fault::add_error_code_not_of_mpi) && of <= MPI_ERR_LASTCODE) return MPI_ERR_ARG;
    if (is(fault::add_error_code_is_class)) {
        *made = of;
        return MPI_SUCCESS;
    }
    if (is(fault::add_error_code_repeats) && ++*codes_added > 50) {
        *made = *last_code;
        return MPI_SUCCESS;
    }
    int const code = PMPI_Add_error_code(of, made);
    *last_code = *made;
    return code;
}

int MPI_Add_error_string(int code, char const* text) {
    if (is(fault::add_error_string_once) && !with_text.insert(code).second) return MPI_SUCCESS;
    if (is(fault::add_error_string_short) && std::strlen(text) > 100) return PMPI_Add_error_string(code, "cut off");
    with_text.insert(code);
    return PMPI_Add_error_string(code, text);
}

#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
int MPI_Remove_error_string(int code) {
    with_text.erase(code);
    return is(fault::remove_string_ignored) ? MPI_SUCCESS : PMPI_Remove_error_string(code);
}

int MPI_Remove_error_code(int code) {
    if (is(fault::remove_code_fails)) return MPI_ERR_ARG;
    return PMPI_Remove_error_code(code);
}

#endif

} // extern "C"
