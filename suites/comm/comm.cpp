#include "suites/comm/comm.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace assay {

std::string text(std::vector<int> const& numbers) { return fmt::format("({})", fmt::join(numbers, " ")); }

int own_process() {
    int rank = -1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

namespace {

processes group_of(test_run const& mpi, bool remote) {
    auto const& entry = *mpi.comm_entry;
    int const np = mpi.the_job.np;
    auto const own = entry.layout(np, own_process());
    if (remote && own.remote_size == 0) return {};
    int const side = remote ? 1 - own.side : own.side;
    processes found(static_cast<std::size_t>(remote ? own.remote_size : own.size), -1);
    for (int process = 0; process < np; ++process)
        if (auto const there = entry.layout(np, process);
            there.member && there.color == own.color && there.side == side)
            found.at(static_cast<std::size_t>(there.rank)) = process;
    return found;
}

} // namespace

processes local_of(test_run const& mpi) { return group_of(mpi, false); }
processes remote_of(test_run const& mpi) { return group_of(mpi, true); }

axis_use few() { return communicators::of({"world", "reversed", "odd_even"}); }

bool expect_number(test_run& mpi, long long got, long long expected, std::string const& what,
                   std::source_location where) {
    return mpi.check(got == expected, finding::value, fmt::format("{} is {}, expected {}", what, got, expected), where);
}

bool expect_group(test_run& mpi, MPI_Group group, processes const& expected, std::string const& what,
                  std::source_location where) {
    int size = -7, rank = -7;
    mpi.ok(MPI_Group_size(group, &size), where);
    mpi.ok(MPI_Group_rank(group, &rank), where);
    auto const at = std::find(expected.begin(), expected.end(), own_process());
    int const own = at == expected.end() ? MPI_UNDEFINED : static_cast<int>(at - expected.begin());
    bool fine = expect_number(mpi, size, static_cast<int>(expected.size()), what + ": its size", where);
    fine = expect_number(mpi, rank, own, what + ": the caller's rank in it", where) && fine;
    if (!fine) return false;
    std::vector<int> ranks(expected.size()), found(expected.size(), -7);
    for (std::size_t i = 0; i < ranks.size(); ++i) ranks[i] = static_cast<int>(i);
    group_handle world;
    mpi.ok(MPI_Comm_group(MPI_COMM_WORLD, world.address()), where);
    mpi.ok(MPI_Group_translate_ranks(group, size, ranks.data(), world, found.data()), where);
    return mpi.check(found == expected, finding::order,
                     fmt::format("{}: its processes are {}, expected {}", what, text(found), text(expected)), where);
}

bool expect_communicator(test_run& mpi, MPI_Comm comm, processes const& local, processes const& remote,
                         std::string const& what, std::source_location where) {
    if (!mpi.check(comm != MPI_COMM_NULL, finding::value, what + " is MPI_COMM_NULL on a process that is a member",
                   where))
        return false;
    mpi.ok(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN), where);
    int const me = own_process(), np = mpi.the_job.np;
    bool const is_inter = !remote.empty();
    int flag = -7, size = -7, rank = -7;
    mpi.ok(MPI_Comm_test_inter(comm, &flag), where);
    mpi.ok(MPI_Comm_size(comm, &size), where);
    mpi.ok(MPI_Comm_rank(comm, &rank), where);
    auto const at = std::find(local.begin(), local.end(), me);
    bool fine = expect_number(mpi, flag != 0, is_inter, what + ": being an intercommunicator", where);
    fine = expect_number(mpi, size, static_cast<int>(local.size()), what + ": its size", where) && fine;
    fine = expect_number(mpi, rank, at - local.begin(), what + ": the caller's rank", where) && fine;
    if (is_inter) {
        int remote_size = -7;
        mpi.ok(MPI_Comm_remote_size(comm, &remote_size), where);
        fine =
            expect_number(mpi, remote_size, static_cast<int>(remote.size()), what + ": its remote size", where) && fine;
    }
    // Room for everybody: the communicator may be larger than it should be.
    std::vector<int> all(static_cast<std::size_t>(np), -7);
    if (!mpi.ok(MPI_Allgather(&me, 1, MPI_INT, all.data(), 1, MPI_INT, comm), where)) return false;
    auto expected = is_inter ? remote : local;
    expected.resize(all.size(), -7);
    return mpi.check(all == expected, finding::order,
                     fmt::format("{}: MPI_Allgather on it finds the processes {}, expected {} (-7: none)", what,
                                 text(all), text(expected)),
                     where) &&
           fine;
}

void free_communicator(test_run& mpi, MPI_Comm& comm, std::source_location where) {
    if (comm == MPI_COMM_NULL) return;
    mpi.ok(MPI_Comm_free(&comm), where);
    mpi.check(comm == MPI_COMM_NULL, finding::value,
              "a communicator that MPI_Comm_free freed must have become MPI_COMM_NULL", where);
}

MPI_Group subgroup(test_run& mpi, MPI_Comm comm, std::vector<int> const& ranks) {
    group_handle whole;
    MPI_Group made = MPI_GROUP_NULL;
    mpi.ok(MPI_Comm_group(comm, whole.address()));
    int const nothing = 0; // no null pointer, not even for no ranks
    mpi.ok(MPI_Group_incl(whole, static_cast<int>(ranks.size()), ranks.empty() ? &nothing : ranks.data(), &made));
    return made;
}

group_handle::~group_handle() {
    if (group_ != MPI_GROUP_NULL) MPI_Group_free(&group_);
}

axis<duplication> const& duplications() {
    static axis<duplication> const all(
        "call",
        {{{"dup", "MPI_Comm_dup"}, duplication::dup},
         {{"idup", "MPI_Comm_idup and MPI_Wait"}, duplication::idup},
         {{"dup_with_info", "MPI_Comm_dup_with_info"}, duplication::dup_with_info},
         {{"idup_with_info", "MPI_Comm_idup_with_info and MPI_Wait", needs_procedures({"MPI_Comm_idup_with_info"})},
          duplication::idup_with_info}});
    return all;
}

char const* name_of(duplication how) {
    switch (how) {
    case duplication::dup: return "MPI_Comm_dup";
    case duplication::idup: return "MPI_Comm_idup";
    case duplication::dup_with_info: return "MPI_Comm_dup_with_info";
    case duplication::idup_with_info: return "MPI_Comm_idup_with_info";
    }
    return "";
}

bool takes_info(duplication how) { return how == duplication::dup_with_info || how == duplication::idup_with_info; }

MPI_Comm duplicate(test_run& mpi, duplication how, MPI_Comm comm, MPI_Info info) {
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Request request = MPI_REQUEST_NULL;
    switch (how) {
    case duplication::dup: mpi.ok(MPI_Comm_dup(comm, &made)); return made;
    case duplication::dup_with_info: mpi.ok(MPI_Comm_dup_with_info(comm, info, &made)); return made;
    case duplication::idup: mpi.ok(MPI_Comm_idup(comm, &made, &request)); break;
    case duplication::idup_with_info: mpi.ok(MPI_Comm_idup_with_info(comm, info, &made, &request)); break;
    }
    mpi.ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
    mpi.check_null(request);
    return made;
}

} // namespace assay
