// Errors of one-sided communication: on which object they are raised, and which class they have (MPI-5.0 section 12.6). What is
// noticed at all is the library's affair.
#include "framework/process/erroneous.hpp"
#include "suites/errors/codes.hpp"
#include "suites/rma/int_window.hpp"

#include <fmt/format.h>

using namespace assay;
using namespace assay::rma;

namespace {

// Who was called last, by the library, and with which code: what the call itself returns after a handler of the user is not said.
// The library gives handlers no pointer of the user.
thread_local MPI_Comm comm_called = MPI_COMM_NULL;
thread_local MPI_Win win_called = MPI_WIN_NULL;
thread_local int code_given = MPI_SUCCESS;
void on_comm(MPI_Comm* comm, int* code, ...) {
    comm_called = *comm;
    code_given = *code;
}
void on_win(MPI_Win* win, int* code, ...) {
    win_called = *win;
    code_given = *code;
}

enum class making { create_size, create_unit, allocate_size, allocate_unit };
axis<making> const makings("wrong", {{{"create_size", "MPI_Win_create of -1 bytes"}, making::create_size},
                                     {{"create_unit", "MPI_Win_create with the unit 0"}, making::create_unit},
                                     {{"allocate_size", "MPI_Win_allocate of -1 bytes"}, making::allocate_size},
                                     {{"allocate_unit", "MPI_Win_allocate with the unit 0"}, making::allocate_unit}});

int class_of(test_run& mpi, int code) {
    int found = MPI_SUCCESS;
    mpi.ok(MPI_Error_class(code, &found));
    return found;
}

} // namespace

ASSAY_TEST(rma, refused_window, requirements{"rma.errors.on_communicator", "rma.errors.size", "rma.errors.disp"},
           over(axis_use{&makings}), note{"on a duplicate of MPI_COMM_SELF with an error handler of its own"}) {
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    int memory[4] = {}, *given = nullptr;
    MPI_Win win = MPI_WIN_NULL;
    mpi.ok(MPI_Comm_dup(MPI_COMM_SELF, &comm));
    mpi.ok(MPI_Comm_create_errhandler(on_comm, &handler));
    mpi.ok(MPI_Comm_set_errhandler(comm, handler));
    mpi.ok(MPI_Errhandler_free(&handler));
    comm_called = MPI_COMM_NULL;
    code_given = MPI_SUCCESS;
    erroneous_from_here();
    int code = MPI_SUCCESS;
    switch (mpi.at(makings)) {
    case making::create_size: code = MPI_Win_create(memory, -1, 1, MPI_INFO_NULL, comm, &win); break;
    case making::create_unit: code = MPI_Win_create(memory, 4, 0, MPI_INFO_NULL, comm, &win); break;
    case making::allocate_size: code = MPI_Win_allocate(-1, 1, MPI_INFO_NULL, comm, &given, &win); break;
    case making::allocate_unit: code = MPI_Win_allocate(4, 0, MPI_INFO_NULL, comm, &given, &win); break;
    }
    bool const about_size = mpi.at(makings) == making::create_size || mpi.at(makings) == making::allocate_size;
    int const expected = about_size ? MPI_ERR_SIZE : MPI_ERR_DISP;
    if (code != MPI_SUCCESS)
        mpi.check("rma.errors.on_communicator", comm_called == comm, finding::error,
                  "the error handler of the communicator was not called");
    int const found = class_of(mpi, code_given);
    mpi.check(about_size ? requirement("rma.errors.size") : requirement("rma.errors.disp"), found == expected,
              finding::error,
              fmt::format("the error class is {}, expected {}", errors::name_of(found), errors::name_of(expected)));
    if (code == MPI_SUCCESS && found == MPI_SUCCESS && win != MPI_WIN_NULL) mpi.ok(MPI_Win_free(&win));
    mpi.ok(MPI_Comm_free(&comm));
}

namespace {

struct wrong_use {
    requirement rests;
    int error_class;
    int (*call)(MPI_Win); // on a window of 4 ints of this process alone
    bool locked = false;  // within MPI_Win_lock
    bool dynamic = false; // on a dynamic window with nothing attached
};

int number;
void no_operation(void*, void*, int*, MPI_Datatype*) {}
template <class Call> int with_own_op(Call call) {
    MPI_Op op = MPI_OP_NULL;
    int code = MPI_Op_create(no_operation, 1, &op);
    if (code != MPI_SUCCESS) return code;
    code = call(op);
    MPI_Op_free(&op);
    return code;
}

axis<wrong_use> const uses(
    "wrong",
    {{{"lock_type", "MPI_Win_lock of no such kind"},
      {"rma.errors.locktype", MPI_ERR_LOCKTYPE, [](MPI_Win w) -> int { return MPI_Win_lock(-77, 0, 0, w); }}},
     {{"lock_rank", "MPI_Win_lock of a rank that there is not"},
      {"rma.errors.rank", MPI_ERR_RANK, [](MPI_Win w) -> int { return MPI_Win_lock(MPI_LOCK_SHARED, -7, 0, w); }}},
     {{"put_rank", "MPI_Put to a rank that there is not"},
      {"rma.errors.rank", MPI_ERR_RANK,
       [](MPI_Win w) -> int { return MPI_Put(&number, 1, MPI_INT, 1, 0, 1, MPI_INT, w); }, true}},
     {{"fence_assert", "MPI_Win_fence with an assertion that there is not"},
      {"rma.errors.assert", MPI_ERR_ASSERT, [](MPI_Win w) -> int { return MPI_Win_fence(1 << 30, w); }}},
     {{"lock_assert", "MPI_Win_lock with an assertion that there is not"},
      {"rma.errors.assert", MPI_ERR_ASSERT,
       [](MPI_Win w) -> int { return MPI_Win_lock(MPI_LOCK_SHARED, 0, 1 << 30, w); }}},
     {{"put_no_epoch", "MPI_Put without an epoch"},
      {"rma.errors.sync", MPI_ERR_RMA_SYNC,
       [](MPI_Win w) -> int { return MPI_Put(&number, 1, MPI_INT, 0, 0, 1, MPI_INT, w); }}},
     {{"unlock_no_lock", "MPI_Win_unlock without a lock"},
      {"rma.errors.sync", MPI_ERR_RMA_SYNC, [](MPI_Win w) -> int { return MPI_Win_unlock(0, w); }}},
     {{"unlock_all_no_lock", "MPI_Win_unlock_all without a lock"},
      {"rma.errors.sync", MPI_ERR_RMA_SYNC, [](MPI_Win w) -> int { return MPI_Win_unlock_all(w); }}},
     {{"flush_no_lock", "MPI_Win_flush without a lock"},
      {"rma.errors.sync", MPI_ERR_RMA_SYNC, [](MPI_Win w) -> int { return MPI_Win_flush(0, w); }}},
     {{"complete_no_start", "MPI_Win_complete without MPI_Win_start"},
      {"rma.errors.sync", MPI_ERR_RMA_SYNC, [](MPI_Win w) -> int { return MPI_Win_complete(w); }}},
     {{"put_range", "MPI_Put beyond the end of the window"},
      {"rma.errors.range", MPI_ERR_RMA_RANGE,
       [](MPI_Win w) -> int { return MPI_Put(&number, 1, MPI_INT, 0, 4, 1, MPI_INT, w); }, true}},
     {{"get_range", "MPI_Get across the end of the window"},
      {"rma.errors.range", MPI_ERR_RMA_RANGE,
       [](MPI_Win w) -> int {
           int in[8];
           return MPI_Get(in, 5, MPI_INT, 0, 0, 5, MPI_INT, w);
       },
       true}},
     {{"put_disp", "MPI_Put to a negative displacement"},
      {"rma.errors.disp", MPI_ERR_DISP,
       [](MPI_Win w) -> int { return MPI_Put(&number, 1, MPI_INT, 0, -1, 1, MPI_INT, w); }, true}},
     {{"attach", "MPI_Win_attach on a window that is not dynamic"},
      {"rma.errors.flavor", MPI_ERR_RMA_FLAVOR,
       [](MPI_Win w) -> int { return MPI_Win_attach(w, &number, sizeof number); }}},
     {{"query", "MPI_Win_shared_query on a dynamic window"},
      {"rma.errors.flavor", MPI_ERR_RMA_FLAVOR,
       [](MPI_Win w) -> int {
           MPI_Aint size = 0;
           int unit = 0;
           void* base = nullptr;
           return MPI_Win_shared_query(w, 0, &size, &unit, &base);
       },
       false, true}},
     {{"accumulate_op", "MPI_Accumulate with an operation of the user"},
      {"rma.errors.op", MPI_ERR_OP,
       [](MPI_Win w) -> int {
           return with_own_op([&](MPI_Op op) { return MPI_Accumulate(&number, 1, MPI_INT, 0, 0, 1, MPI_INT, op, w); });
       },
       true}},
     {{"fetch_op", "MPI_Fetch_and_op with an operation of the user"},
      {"rma.errors.op", MPI_ERR_OP,
       [](MPI_Win w) -> int {
           static int result;
           return with_own_op([&](MPI_Op op) { return MPI_Fetch_and_op(&number, &result, MPI_INT, 0, 0, op, w); });
       },
       true}},
     {{"fence_null", "MPI_Win_fence on MPI_WIN_NULL"},
      {"rma.errors.win", MPI_ERR_WIN, [](MPI_Win) -> int { return MPI_Win_fence(0, MPI_WIN_NULL); }}}});

} // namespace

ASSAY_TEST(rma, refused,
           requirements{"rma.errors.on_window", "rma.errors.locktype", "rma.errors.rank", "rma.errors.assert",
                        "rma.errors.sync", "rma.errors.range", "rma.errors.disp", "rma.errors.flavor", "rma.errors.op",
                        "rma.errors.win"},
           over(axis_use{&uses}), note{"wrong arguments: what is found is advisory, where it is raised is not"}) {
    auto const& use = mpi.at(uses);
    static int memory[12]; // room on both sides of the window, for what is not noticed
    MPI_Win win = MPI_WIN_NULL;
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    if (use.dynamic) mpi.ok(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_SELF, &win));
    else mpi.ok(MPI_Win_create(memory + 4, 4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_SELF, &win));
    if (win == MPI_WIN_NULL) return;
    mpi.ok(MPI_Win_create_errhandler(on_win, &handler));
    mpi.ok(MPI_Win_set_errhandler(win, handler));
    mpi.ok(MPI_Errhandler_free(&handler));
    if (use.locked) mpi.ok(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
    win_called = MPI_WIN_NULL;
    code_given = MPI_SUCCESS;
    erroneous_from_here();
    int const code = use.call(win), found = class_of(mpi, code_given != MPI_SUCCESS ? code_given : code);
    bool const noticed = mpi.check(
        use.rests, found == use.error_class, finding::error,
        fmt::format("the error class is {}, expected {}", errors::name_of(found), errors::name_of(use.error_class)));
    if (code != MPI_SUCCESS && use.error_class != MPI_ERR_WIN)
        mpi.check("rma.errors.on_window", win_called == win, finding::error,
                  "the error handler of the window was not called");
    mpi.ok(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    if (use.locked) MPI_Win_unlock(0, win); // which may be what notices
    if (noticed || use.locked)
        mpi.ok(MPI_Win_free(&win)); // else an epoch may be open, and MPI_Win_free wait for its end
}
