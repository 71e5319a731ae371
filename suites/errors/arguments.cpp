// What a library says to wrong arguments (MPI-5.0 section 9.4). Which errors are found is its own affair; what it returns then
// is a valid error code, of which MPI_Error_class and MPI_Error_string know.
#include "suites/errors/codes.hpp"

#include "framework/mpi/run.hpp"
#include "framework/process/erroneous.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <iterator>
#include <unistd.h>

using namespace assay;

namespace {

void nothing(MPI_Win*, int*, ...) {}
int datarep_extent(MPI_Datatype, MPI_Aint* extent, void*) {
    *extent = 4;
    return MPI_SUCCESS;
}

// The objects that the calls of arguments.inc use, fresh for each.
struct fixture {
    explicit fixture(test_run& run) : mpi(run) {
        MPI_Type_contiguous(2, MPI_INT, &uncommitted);
        MPI_Comm_group(MPI_COMM_SELF, &self_group);
        int const one = 1, no = 0;
        MPI_Cart_create(MPI_COMM_SELF, 1, &one, &no, 0, &cart);
        MPI_Comm_dup(MPI_COMM_SELF, &own);
        for (auto one_of_both : {cart, own}) MPI_Comm_set_errhandler(one_of_both, MPI_ERRORS_RETURN);
        MPI_Info_create(&info);
        MPI_Win_create_errhandler(nothing, &of_windows);
        MPI_Win_create(data, sizeof data, 1, MPI_INFO_NULL, MPI_COMM_SELF, &open_window);
        MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_SELF, &dynamic);
        for (auto win : {open_window, dynamic}) MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
        if (!has_procedure("MPI_File_open")) return;
        MPI_File_open(MPI_COMM_SELF, path.c_str(), MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                      MPI_INFO_NULL, &open_file);
        MPI_File_open(MPI_COMM_SELF, (path + "-sequential").c_str(),
                      MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_SEQUENTIAL | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                      &sequential);
    }
    ~fixture() {
        if (sequential != MPI_FILE_NULL) MPI_File_close(&sequential);
        if (open_file != MPI_FILE_NULL) MPI_File_close(&open_file);
        MPI_Win_free(&dynamic);
        MPI_Win_free(&open_window);
        MPI_Errhandler_free(&of_windows);
        MPI_Info_free(&info);
        MPI_Comm_free(&own);
        MPI_Comm_free(&cart);
        MPI_Group_free(&self_group);
        MPI_Type_free(&uncommitted);
    }
    fixture(fixture const&) = delete;
    fixture& operator=(fixture const&) = delete;

    test_run& mpi;
    int data[128] = {};
    int number = 0, flag = 0, position = 0;
    int numbers[2] = {1, 1}, twos[2] = {2, 2}, zeros[2] = {0, 0}, negative[2] = {-2, -2}, scratch[4] = {};
    MPI_Aint address = 0, addresses[2] = {0, 4};
    void* pointer = nullptr;
    char text[4096] = "", port[MPI_MAX_PORT_NAME + 1] = "";
    std::string const long_key = std::string(MPI_MAX_INFO_KEY + 1, 'k'),
                      long_value = std::string(MPI_MAX_INFO_VAL + 1, 'v');
    std::string const path = fmt::format("{}/arguments-{}", mpi.the_job.scratch, getpid()), missing = path + "-missing",
                      long_path = path + std::string(5000, 'x');
    MPI_Status status = poisoned_status();
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Message message = MPI_MESSAGE_NULL;
    // Copies of handles of what must not be freed.
    MPI_Comm world = MPI_COMM_WORLD, self = MPI_COMM_SELF;
    MPI_Datatype pair = MPI_DOUBLE_INT;
    int tag_ub = MPI_TAG_UB, win_base = MPI_WIN_BASE;
    MPI_Comm comm = MPI_COMM_NULL, own = MPI_COMM_NULL, cart = MPI_COMM_NULL;
    MPI_Group group = MPI_GROUP_NULL, self_group = MPI_GROUP_NULL;
    MPI_Datatype type = MPI_DATATYPE_NULL, made = MPI_DATATYPE_NULL, predefined = MPI_INT,
                 uncommitted = MPI_DATATYPE_NULL;
    MPI_Op op = MPI_OP_NULL, predefined_op = MPI_SUM;
    MPI_Info info = MPI_INFO_NULL, info_null = MPI_INFO_NULL;
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL, of_windows = MPI_ERRHANDLER_NULL;
    MPI_Win window = MPI_WIN_NULL, open_window = MPI_WIN_NULL, dynamic = MPI_WIN_NULL;
    MPI_File file = MPI_FILE_NULL, open_file = MPI_FILE_NULL, sequential = MPI_FILE_NULL;
    MPI_Session session = MPI_SESSION_NULL;
};

// What another file system, name server or info object would take is no wrong use.
bool only_here(int expected) {
    int const those[] = {MPI_ERR_BAD_FILE,     MPI_ERR_FILE_EXISTS, MPI_ERR_INFO_NOKEY,         MPI_ERR_NAME,
                         MPI_ERR_NO_SUCH_FILE, MPI_ERR_SERVICE,     MPI_ERR_UNSUPPORTED_DATAREP};
    return std::find(std::begin(those), std::end(those), expected) != std::end(those);
}

struct wrong_call {
    int expected;
    char const* words; // the call
    int (*call)(fixture&);
};

axis<wrong_call> const wrong_calls("wrong", {
#define BAD(name, expected, ...)                                                                                       \
    {{#name, #expected}, {expected, #__VA_ARGS__, []([[maybe_unused]] fixture& f) -> int { return __VA_ARGS__; }}},
#define BAD_IF(procedure, name, expected, ...)                                                                         \
    {{#name, #expected, needs_procedures({#procedure})},                                                               \
     {expected, #__VA_ARGS__, []([[maybe_unused]] fixture& f) -> int { return __VA_ARGS__; }}},
#include "suites/errors/arguments.inc"
#undef BAD_IF
#undef BAD
                                            });

} // namespace

ASSAY_TEST(errors, arguments,
           requirements{"errors.raised.class", "errors.raised.noticed", "errors.raised.code_is_valid",
                        "errors.raised.text", "errors.raised.goes_on"},
           over(axis_use{&wrong_calls}),
           note{"wrong arguments: what is found is advisory, that its code is valid is not"}) {
    auto const& [expected, words, call] = mpi.at(wrong_calls);
    fixture f(mpi);
    if (!only_here(expected)) erroneous_from_here();
    int const code = call(f);
    if (!mpi.check("errors.raised.noticed", code != MPI_SUCCESS, finding::return_,
                   fmt::format("{} succeeds, expected {}", words, errors::name_of(expected))))
        return;
    int error_class = -7, length = -7;
    std::array<char, MPI_MAX_ERROR_STRING + 1> text{};
    mpi.ok(MPI_Error_class(code, &error_class));
    mpi.check(
        error_class > MPI_SUCCESS && error_class <= MPI_ERR_LASTCODE, finding::error,
        fmt::format("{} returns the code {} of class {}, which is no error class of MPI", words, code, error_class));
    mpi.ok(MPI_Error_string(code, text.data(), &length));
    mpi.check(length > 0, finding::error, fmt::format("{} returns a code without a text", words));
    mpi.check("errors.raised.class", error_class == expected, finding::error,
              fmt::format("{} raises {} ({}), expected {}", words, errors::name_of(error_class), text.data(),
                          errors::name_of(expected)));
    // Errors of arguments need not harm what comes: messages still work.
    int const sent = 12;
    int got = -7;
    int const then =
        MPI_Sendrecv(&sent, 1, MPI_INT, 0, mpi.tag(), &got, 1, MPI_INT, 0, mpi.tag(), MPI_COMM_SELF, MPI_STATUS_IGNORE);
    mpi.check(
        "errors.raised.goes_on", then == MPI_SUCCESS && got == sent, finding::data,
        fmt::format("after the error MPI_Sendrecv returns {} and gives {}, expected {}", error_text(then), got, sent));
}
