// What ends a job: MPI_Abort (MPI-5.0 section 11.4.2), the fatal error handlers (section 9.3), and calls at times when there is
// no MPI. Each process says beforehand that it must not live on; the runner looks whether it does.
#include "framework/mpi/own_job.hpp"
#include "framework/mpi/run.hpp"

#include "framework/process/erroneous.hpp"

#include <chrono>
#include <cstdlib>
#include <fmt/format.h>
#include <thread>

using namespace assay;

namespace {

// Where those processes are that do not end the job themselves.
enum class waiting { in_recv, in_barrier, outside };

// Longer than the runner waits; then the process goes on, which it must not.
void wait_for_the_end(test_run& mpi, waiting how, int caller) {
    int nothing = 0;
    switch (how) {
    case waiting::in_recv: mpi.ok(MPI_Recv(&nothing, 1, MPI_INT, caller, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE)); break;
    case waiting::in_barrier: mpi.ok(MPI_Barrier(MPI_COMM_WORLD)); break;
    case waiting::outside: std::this_thread::sleep_for(std::chrono::minutes(2)); break;
    }
}

// The end may come from outside, from the launcher that was told, a moment after the call has returned.
void linger() { std::this_thread::sleep_for(std::chrono::seconds(5)); }

// The processes that only wait have said so before the job is ended: else the runner could not tell an end that was
// ordered from one that was not.
void announce_everywhere(int code = any_exit_code) {
    announce_end(code);
    MPI_Barrier(MPI_COMM_WORLD);
}

enum class whom { world, duplicate, self, half };
struct scenario {
    whom comm;
    int caller; // -1: the last rank. MPI_COMM_SELF and halves are aborted by every process, since the others may live on
    waiting others;
    int code;
};
axis<scenario> const
    scenarios("abort",
              {{{"world", "MPI_COMM_WORLD by rank 0, the others receive"}, {whom::world, 0, waiting::in_recv, 7}},
               {{"world_last", "MPI_COMM_WORLD by the last rank, the others are outside MPI"},
                {whom::world, -1, waiting::outside, 199}},
               {{"world_barrier", "MPI_COMM_WORLD by rank 0, the others are in a barrier"},
                {whom::world, 0, waiting::in_barrier, 1}},
               {{"dup", "a duplicate of MPI_COMM_WORLD by rank 0"}, {whom::duplicate, 0, waiting::in_recv, 7}},
               {{"self", "MPI_COMM_SELF by each process"}, {whom::self, 0, waiting::in_recv, 7}},
               {{"halves", "one half of MPI_COMM_WORLD by each process"}, {whom::half, 0, waiting::in_recv, 7}}});

} // namespace

ASSAY_TEST(env, abort, requirements{"env.abort", "env.abort.code", "env.abort.subset"}, over(axis_use{&scenarios}),
           own_job{}) {
    auto const world = initialize(mpi);
    auto const [which, by, others, code] = mpi.at(scenarios);
    int const caller = by < 0 ? world.size - 1 : by;
    MPI_Comm comm = which == whom::self ? MPI_COMM_SELF : MPI_COMM_WORLD;
    if (which == whom::duplicate) mpi.ok(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    if (which == whom::half) mpi.ok(MPI_Comm_split(MPI_COMM_WORLD, world.rank % 2, 0, &comm));
    announce_everywhere(code);
    if (which == whom::self || which == whom::half || world.rank == caller) {
        MPI_Abort(comm, code);
        linger();
    } else {
        wait_for_the_end(mpi, others, caller);
    }
}

namespace {

enum class object { world, self, duplicate, window, file, session };
struct fatal_handler {
    object of;
    bool set, abort; // it is set, not the default one; MPI_ERRORS_ABORT
};
axis<fatal_handler> const
    handlers("handler",
             {{{"world_default", "that which MPI_COMM_WORLD has"}, {object::world, false, false}},
              {{"self_default", "that which MPI_COMM_SELF has"}, {object::self, false, false}},
              {{"dup_inherited", "that which a duplicate of MPI_COMM_WORLD has"}, {object::duplicate, false, false}},
              {{"window_default", "that which a window has"}, {object::window, false, false}},
              {{"dup_fatal", "MPI_ERRORS_ARE_FATAL on a duplicate"}, {object::duplicate, true, false}},
              {{"file_fatal", "MPI_ERRORS_ARE_FATAL on a file"}, {object::file, true, false}},
              {{"session_fatal", "MPI_ERRORS_ARE_FATAL on a session"}, {object::session, true, false}},
              {{"world_abort", "MPI_ERRORS_ABORT on MPI_COMM_WORLD"}, {object::world, true, true}},
              {{"self_abort", "MPI_ERRORS_ABORT on MPI_COMM_SELF"}, {object::self, true, true}},
              {{"window_abort", "MPI_ERRORS_ABORT on a window"}, {object::window, true, true}},
              {{"file_abort", "MPI_ERRORS_ABORT on a file"}, {object::file, true, true}},
              {{"session_abort", "MPI_ERRORS_ABORT on a session"}, {object::session, true, true}}});

} // namespace

// MPI_…_call_errhandler calls the handler for sure, where a wrong argument may go unnoticed.
ASSAY_TEST(env, fatal,
           requirements{"errors.fatal", "errors.fatal.default", "errors.fatal.inherited", "errors.fatal.window",
                        "errors.abort", "errors.abort.local"},
           over(axis_use{&handlers}), own_job{}) {
    auto const [of, set, abort] = mpi.at(handlers);
    if (of == object::session) mpi.needs_procedure("MPI_Session_init");
    if (of == object::file) mpi.needs_procedure("MPI_File_open");
    // mpi_calls.hpp gives that handle the value of no handler where mpi.h lacks it.
    if (abort && MPI_ERRORS_ABORT == MPI_ERRHANDLER_NULL)
        mpi.unsupported("mpi.h of this library has no MPI_ERRORS_ABORT");
    // Not initialize(): that would set handlers.
    succeeded(mpi, MPI_Init(nullptr, nullptr));
    was_initialized();
    int rank = -7;
    succeeded(mpi, MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    auto const handler = abort ? MPI_ERRORS_ABORT : MPI_ERRORS_ARE_FATAL;
    MPI_Comm duplicate = MPI_COMM_NULL;
    MPI_Win window = MPI_WIN_NULL;
    MPI_File file = MPI_FILE_NULL;
    MPI_Session session = MPI_SESSION_NULL;
    auto const path = mpi.the_job.scratch + "/fatal";
    switch (of) {
    case object::world:
        if (set) succeeded(mpi, MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler));
        break;
    case object::self:
        if (set) succeeded(mpi, MPI_Comm_set_errhandler(MPI_COMM_SELF, handler));
        break;
    case object::duplicate:
        succeeded(mpi, MPI_Comm_dup(MPI_COMM_WORLD, &duplicate));
        if (set) {
            succeeded(mpi, MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
            succeeded(mpi, MPI_Comm_set_errhandler(duplicate, handler));
        }
        break;
    case object::window:
        // A window does not take what its communicator has.
        succeeded(mpi, MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
        succeeded(mpi, MPI_Win_create(nullptr, 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window));
        if (set) succeeded(mpi, MPI_Win_set_errhandler(window, handler));
        break;
    case object::file:
        succeeded(mpi,
                  MPI_File_open(MPI_COMM_WORLD, path.c_str(), MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
        succeeded(mpi, MPI_File_set_errhandler(file, handler));
        break;
    case object::session:
        succeeded(mpi, MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
        succeeded(mpi, MPI_Session_set_errhandler(session, handler));
        break;
    }
    announce_everywhere();
    // What aborts one process only may leave the others alone: each one does it.
    bool const local = abort && (of == object::self || of == object::session);
    if (rank != 0 && !local) return wait_for_the_end(mpi, waiting::in_recv, 0);
    switch (of) {
    case object::world: MPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_OTHER); break;
    case object::self: MPI_Comm_call_errhandler(MPI_COMM_SELF, MPI_ERR_OTHER); break;
    case object::duplicate: MPI_Comm_call_errhandler(duplicate, MPI_ERR_OTHER); break;
    case object::window: MPI_Win_call_errhandler(window, MPI_ERR_OTHER); break;
    case object::file: MPI_File_call_errhandler(file, MPI_ERR_OTHER); break;
    case object::session: MPI_Session_call_errhandler(session, MPI_ERR_OTHER); break;
    }
    linger();
}

namespace {
enum class moment { before, after };
axis<moment> const moments("when", {{{"before", "before MPI_Init"}, moment::before},
                                    {{"after", "after MPI_Finalize"}, moment::after}});
} // namespace

// An error that nobody can be asked about goes to the initial error handler, which is fatal.
ASSAY_TEST(env, no_mpi, requirements{"env.error_without_mpi"}, over(axis_use{&moments}), own_job{}) {
    if (mpi.at(moments) == moment::after) {
        initialize(mpi);
        finalize(mpi);
    }
    announce_end();
    erroneous_from_here();
    int size = -7;
    int const code = MPI_Comm_size(MPI_COMM_WORLD, &size);
    mpi.check(code != MPI_SUCCESS, finding::return_,
              fmt::format("MPI_Comm_size succeeds without MPI and gives {}", size));
}

// A second MPI_Init is erroneous: it may return, or end the job by the initial error handler.
ASSAY_TEST(env, init_twice, requirements{"env.init.once"}, over(axis_use{&moments}), own_job{}) {
    initialize(mpi);
    bool const after = mpi.at(moments) == moment::after;
    if (after) finalize(mpi);
    announce_end();
    erroneous_from_here();
    int const code = MPI_Init(nullptr, nullptr);
    mpi.check(code != MPI_SUCCESS, finding::return_, "a second MPI_Init succeeds");
    if (!after) finalize(mpi);
}
