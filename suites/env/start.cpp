// How the World Model begins and ends: each way to initialize, what is known before, between and after, and that messages
// work (MPI-5.0 sections 11.2.1 to 11.2.3).
#include "framework/check/logical.hpp"
#include "framework/mpi/own_job.hpp"
#include "framework/mpi/run.hpp"

#include <fmt/format.h>
#include <unistd.h>

using namespace assay;

namespace {

enum class way { arguments, null, thread_arguments, thread_null };
struct start {
    way how;
    int level; // that is asked for; mixed: another one on each process
};
constexpr int mixed = -1;
axis<start> const
    starts("start",
           {{{"init", "MPI_Init(&argc, &argv)"}, {way::arguments, MPI_THREAD_SINGLE}},
            {{"init_null", "MPI_Init(NULL, NULL)"}, {way::null, MPI_THREAD_SINGLE}},
            {{"single", "MPI_Init_thread, MPI_THREAD_SINGLE"}, {way::thread_arguments, MPI_THREAD_SINGLE}},
            {{"funneled", "MPI_Init_thread, MPI_THREAD_FUNNELED"}, {way::thread_null, MPI_THREAD_FUNNELED}},
            {{"serialized", "MPI_Init_thread, MPI_THREAD_SERIALIZED"}, {way::thread_arguments, MPI_THREAD_SERIALIZED}},
            {{"multiple", "MPI_Init_thread, MPI_THREAD_MULTIPLE"}, {way::thread_null, MPI_THREAD_MULTIPLE}},
            {{"mixed", "MPI_Init_thread, another level on each process"}, {way::thread_null, mixed}}});

// What MPI_Initialized and MPI_Finalized say.
void expect_state(test_run& mpi, char const* when, bool initialized, bool finalized) {
    int is_initialized = opposite(initialized), is_finalized = opposite(finalized);
    succeeded(mpi, MPI_Initialized(&is_initialized));
    succeeded(mpi, MPI_Finalized(&is_finalized));
    mpi.check(
        logical(is_initialized) == initialized, finding::value,
        fmt::format("MPI_Initialized gives {} {}, expected {}", is_initialized, when, static_cast<int>(initialized)));
    mpi.check(logical(is_finalized) == finalized, finding::value,
              fmt::format("MPI_Finalized gives {} {}, expected {}", is_finalized, when, static_cast<int>(finalized)));
}

bool is_level(int level) {
    return level == MPI_THREAD_SINGLE || level == MPI_THREAD_FUNNELED || level == MPI_THREAD_SERIALIZED ||
           level == MPI_THREAD_MULTIPLE;
}

void ring(test_run& mpi, world_place const& world) {
    int const sent = 1000 + world.rank, from = (world.rank + world.size - 1) % world.size;
    int got = -7;
    mpi.ok(MPI_Sendrecv(&sent, 1, MPI_INT, (world.rank + 1) % world.size, 3, &got, 1, MPI_INT, from, 3, MPI_COMM_WORLD,
                        MPI_STATUS_IGNORE));
    mpi.check(got == 1000 + from, finding::data,
              fmt::format("received {} from rank {}, expected {}", got, from, 1000 + from));
}

} // namespace

ASSAY_TEST(env, start,
           requirements{"env.init.null", "env.init.world", "env.init_thread.provided", "env.init_thread.mixed",
                        "env.init.thread_main", "env.initialized", "env.finalized", "env.finalize.returns"},
           over(axis_use{&starts}), own_job{}) {
    auto const [how, wanted] = mpi.at(starts);
    expect_state(mpi, "before MPI_Init", false, false);
    auto const& arguments = arguments_of_main();
    int const level = wanted == mixed ? (getpid() % 2 == 0 ? MPI_THREAD_FUNNELED : MPI_THREAD_MULTIPLE) : wanted;
    int provided = -7;
    switch (how) {
    case way::arguments: succeeded(mpi, MPI_Init(arguments.count, arguments.words)); break;
    case way::null: succeeded(mpi, MPI_Init(nullptr, nullptr)); break;
    case way::thread_arguments:
        succeeded(mpi, MPI_Init_thread(arguments.count, arguments.words, level, &provided));
        break;
    case way::thread_null: succeeded(mpi, MPI_Init_thread(nullptr, nullptr, level, &provided)); break;
    }
    was_initialized();
    expect_state(mpi, "after MPI_Init", true, false);
    int queried = -7, main_thread = 0;
    mpi.ok(MPI_Query_thread(&queried));
    mpi.check(is_level(queried), finding::value, fmt::format("MPI_Query_thread gives {}, which is no level", queried));
    if (how == way::thread_arguments || how == way::thread_null) {
        mpi.check(is_level(provided), finding::value,
                  fmt::format("MPI_Init_thread provides {}, which is no level", provided));
        mpi.check(queried == provided, finding::value,
                  fmt::format("MPI_Query_thread gives {}, MPI_Init_thread provided {}", queried, provided));
    }
    mpi.ok(MPI_Is_thread_main(&main_thread));
    mpi.check(logical(main_thread), finding::value,
              fmt::format("MPI_Is_thread_main gives {} in the thread that called MPI_Init", main_thread));
    world_place world;
    mpi.ok(MPI_Comm_rank(MPI_COMM_WORLD, &world.rank));
    mpi.ok(MPI_Comm_size(MPI_COMM_WORLD, &world.size));
    mpi.check(world.size == mpi.the_job.np, finding::value,
              fmt::format("MPI_COMM_WORLD has {} processes, {} were started", world.size, mpi.the_job.np));
    if (!mpi.check(world.rank >= 0 && world.rank < world.size, finding::value,
                   fmt::format("the rank {} is not below the size {}", world.rank, world.size)))
        return;
    int self = -7;
    mpi.ok(MPI_Comm_size(MPI_COMM_SELF, &self));
    mpi.check(self == 1, finding::value, fmt::format("MPI_COMM_SELF has {} processes", self));
    ring(mpi, world);
    finalize(mpi);
    expect_state(mpi, "after MPI_Finalize", true, true);
}

// MPI_Init and MPI_Finalize end nothing of what the Sessions Model has, and the other way round (sections 11.3.1, 11.2.3).
namespace {
enum class models { alone, twice, inside_world, around_world };
axis<models> const orders("order", {{{"alone", "one session and no world"}, models::alone},
                                    {{"twice", "a session, and another one after its end"}, models::twice},
                                    {{"inside_world", "a session that lives within the world"}, models::inside_world},
                                    {{"around_world", "a session that outlives the world"}, models::around_world}});

void use_session(test_run& mpi, MPI_Session session, char const* when) {
    MPI_Group group = MPI_GROUP_NULL;
    if (!succeeded(mpi, MPI_Group_from_session_pset(session, "mpi://SELF", &group))) return;
    int size = -7;
    succeeded(mpi, MPI_Group_size(group, &size));
    mpi.check(size == 1, finding::value, fmt::format("the process set mpi://SELF has {} processes {}", size, when));
    MPI_Comm comm = MPI_COMM_NULL;
    if (succeeded(mpi, MPI_Comm_create_from_group(group, "assay.env", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm))) {
        int const sent = 17;
        int got = -7;
        succeeded(mpi, MPI_Sendrecv(&sent, 1, MPI_INT, 0, 0, &got, 1, MPI_INT, 0, 0, comm, MPI_STATUS_IGNORE));
        mpi.check(got == 17, finding::data, fmt::format("received {} from oneself {}, expected 17", got, when));
        succeeded(mpi, MPI_Comm_free(&comm));
    }
    succeeded(mpi, MPI_Group_free(&group));
}

MPI_Session begin_session(test_run& mpi) {
    MPI_Session session = MPI_SESSION_NULL;
    succeeded(mpi, MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    was_initialized();
    mpi.check(session != MPI_SESSION_NULL, finding::value, "MPI_Session_init gives MPI_SESSION_NULL");
    return session;
}

void end_session(test_run& mpi, MPI_Session session) {
    succeeded(mpi, MPI_Session_finalize(&session));
    mpi.check(session == MPI_SESSION_NULL, finding::value,
              "MPI_Session_finalize does not set the handle to MPI_SESSION_NULL");
}
} // namespace

ASSAY_TEST(env, session, requirements{"env.session.alone", "env.session.again", "env.session.world"},
           over(axis_use{&orders}), own_job{},
           needs_procedures({"MPI_Session_init", "MPI_Group_from_session_pset", "MPI_Comm_create_from_group"})) {
    switch (mpi.at(orders)) {
    case models::alone:
    case models::twice:
        for (int round = 0; round < (mpi.at(orders) == models::twice ? 2 : 1); ++round) {
            auto const session = begin_session(mpi);
            expect_state(mpi, "in a session", false, false);
            use_session(mpi, session, "in a session");
            end_session(mpi, session);
        }
        expect_state(mpi, "after a session", false, false);
        break;
    case models::inside_world: {
        auto const world = initialize(mpi);
        auto const session = begin_session(mpi);
        use_session(mpi, session, "within the world");
        end_session(mpi, session);
        ring(mpi, world);
        finalize(mpi);
        expect_state(mpi, "after MPI_Finalize", true, true);
        break;
    }
    case models::around_world: {
        auto const session = begin_session(mpi);
        auto const world = initialize(mpi);
        ring(mpi, world);
        finalize(mpi);
        use_session(mpi, session, "after the end of the world");
        end_session(mpi, session);
        break;
    }
    }
}
