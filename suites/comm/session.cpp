// Groups of process sets (MPI-5.0 section 7.3.2): where communicators come from without MPI_COMM_WORLD.
#include "suites/comm/comm.hpp"

#include <algorithm>
#include <fmt/format.h>

using namespace assay;

namespace {
enum class process_set { world, self, none };
axis<process_set> const sets("set", {{{"world", "mpi://WORLD"}, process_set::world},
                                     {{"self", "mpi://SELF"}, process_set::self},
                                     {{"none", "a name that is none"}, process_set::none}});
} // namespace

ASSAY_TEST(comm, session_group, requirements{"group.from_session", "group.from_session.invalid"},
           over(axis_use{&sets}, communicators::world()),
           needs_procedures({"MPI_Session_init", "MPI_Group_from_session_pset"})) {
    auto const which = mpi.at(sets);
    char const* const name = which == process_set::world  ? "mpi://WORLD"
                             : which == process_set::self ? "mpi://SELF"
                                                          : "assay://no_such_set";
    MPI_Session session = MPI_SESSION_NULL;
    if (!mpi.ok(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session))) return;
    MPI_Group group = MPI_GROUP_EMPTY; // must be overwritten
    int const code = MPI_Group_from_session_pset(session, name, &group);
    if (which == process_set::none) {
        // Whether it is an error, too, is not said.
        mpi.check(group == MPI_GROUP_NULL, finding::value,
                  "the group of a set that does not exist is not MPI_GROUP_NULL");
    } else if (mpi.ok(code) && mpi.check(group != MPI_GROUP_NULL && group != MPI_GROUP_EMPTY, finding::value,
                                         fmt::format("there is no group of {}", name))) {
        bool const alone = which == process_set::self;
        int size = -7, rank = -7;
        mpi.ok(MPI_Group_size(group, &size));
        mpi.ok(MPI_Group_rank(group, &rank));
        bool const right =
            expect_number(mpi, size, alone ? 1 : mpi.size, fmt::format("the size of the group of {}", name));
        mpi.check(rank >= 0 && rank < size, finding::value,
                  fmt::format("the caller's rank in the group of {} is {}", name, rank));
        MPI_Comm made = MPI_COMM_NULL;
        auto const tag = fmt::format("assay.set.{}.{}", alone ? own_process() : -1, mpi.first_tag());
        // With a wrong group the call would wait for others.
        if (right && mpi.ok(MPI_Comm_create_from_group(group, tag.c_str(), MPI_INFO_NULL, MPI_ERRORS_RETURN, &made))) {
            int const me = own_process();
            processes all(static_cast<std::size_t>(mpi.size), -7), expected;
            mpi.ok(MPI_Allgather(&me, 1, MPI_INT, all.data(), 1, MPI_INT, made));
            all.resize(static_cast<std::size_t>(alone ? 1 : mpi.size));
            std::sort(all.begin(), all.end());
            for (int process = alone ? me : 0; process < (alone ? me + 1 : mpi.size); ++process)
                expected.push_back(process);
            mpi.check(all == expected, finding::value,
                      fmt::format("the communicator of {} has the processes {}, expected {}", name, text(all),
                                  text(expected)));
            free_communicator(mpi, made);
        }
        mpi.ok(MPI_Group_free(&group));
    }
    mpi.ok(MPI_Session_finalize(&session));
}
