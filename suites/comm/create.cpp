// Communicators of a group (MPI-5.0 section 7.4.2): MPI_Comm_create, MPI_Comm_create_group, MPI_Comm_create_from_group.
#include "suites/comm/comm.hpp"

#include <algorithm>
#include <fmt/format.h>

using namespace assay;

namespace {

enum class creation { create, create_group, create_from_group };
axis<creation> const creations("call", {{{"create", "MPI_Comm_create"}, creation::create},
                                        {{"create_group", "MPI_Comm_create_group"}, creation::create_group}});

// Which group a process gives, in ranks of the old communicator. An empty one: MPI_GROUP_EMPTY.
using chosen = std::vector<int> (*)(int rank, int size);
std::vector<int> all_ranks(int size) {
    std::vector<int> ranks(static_cast<std::size_t>(size));
    for (int i = 0; i < size; ++i) ranks[static_cast<std::size_t>(i)] = i;
    return ranks;
}
axis<chosen> const
    groups("group",
           {{{"all", "all processes"}, [](int, int size) { return all_ranks(size); }},
            {{"backwards", "all processes, in reverse"},
             [](int, int size) {
                 auto ranks = all_ranks(size);
                 std::reverse(ranks.begin(), ranks.end());
                 return ranks;
             }},
            {{"last", "the last process; the others give the same group"},
             [](int, int size) { return std::vector<int>{size - 1}; }},
            {{"members", "the last process; the others give MPI_GROUP_EMPTY"},
             [](int rank, int size) { return rank == size - 1 ? std::vector<int>{rank} : std::vector<int>{}; }},
            {{"disjoint", "two groups at once: even ranks, and odd ones in reverse"},
             [](int rank, int size) {
                 std::vector<int> ranks;
                 for (int other = rank % 2; other < size; other += 2) ranks.push_back(other);
                 if (rank % 2 == 1) std::reverse(ranks.begin(), ranks.end());
                 return ranks;
             }},
            {{"nobody", "MPI_GROUP_EMPTY everywhere"}, [](int, int) { return std::vector<int>{}; }}});

processes at_ranks(processes const& base, std::vector<int> const& ranks) {
    processes found;
    for (int rank : ranks) found.push_back(base[static_cast<std::size_t>(rank)]);
    return found;
}

bool holds(std::vector<int> const& ranks, int rank) {
    return std::find(ranks.begin(), ranks.end(), rank) != ranks.end();
}

void make(test_run& mpi, creation how) {
    auto const base = local_of(mpi);
    auto const ranks = mpi.at(groups)(mpi.rank, mpi.size);
    bool const member = holds(ranks, mpi.rank);
    group_handle const group(ranks.empty() ? MPI_GROUP_NULL : subgroup(mpi, mpi.comm, ranks));
    MPI_Group const given = ranks.empty() ? MPI_GROUP_EMPTY : static_cast<MPI_Group>(group);
    MPI_Comm made = MPI_COMM_WORLD;
    switch (how) {
    case creation::create: mpi.ok(MPI_Comm_create(mpi.comm, given, &made)); break;
    case creation::create_group: mpi.ok(MPI_Comm_create_group(mpi.comm, given, mpi.tag(), &made)); break;
    case creation::create_from_group: {
        // Not for a process outside of its own group: unlike that of MPI_Comm_create_group, the call must not come from it.
        if (!member && !ranks.empty()) return;
        // One name for all the members, another one for each group.
        auto name = fmt::format("assay.{}.{}.", ranks.empty() ? 0 : ranks[0], mpi.first_tag());
        name.resize(62, '.'); // the longest that every library takes
        MPI_Errhandler found = MPI_ERRHANDLER_NULL;
        if (!mpi.ok(MPI_Comm_create_from_group(given, name.c_str(), MPI_INFO_NULL, MPI_ERRORS_RETURN, &made)) ||
            made == MPI_COMM_NULL || made == MPI_COMM_WORLD)
            break;
        mpi.ok(MPI_Comm_get_errhandler(made, &found));
        mpi.check(found == MPI_ERRORS_RETURN, finding::value,
                  "the communicator has another error handler than MPI_Comm_create_from_group was given");
        mpi.ok(MPI_Errhandler_free(&found));
        break;
    }
    }
    if (!member) {
        mpi.check(made == MPI_COMM_NULL, finding::value, "a process outside of the group must get MPI_COMM_NULL");
        return;
    }
    if (!mpi.check(made != MPI_COMM_WORLD, finding::value, "the new communicator was not written")) return;
    expect_communicator(mpi, made, at_ranks(base, ranks), {}, "a communicator of the ranks " + text(ranks));
    free_communicator(mpi, made);
}

} // namespace

ASSAY_TEST(comm, create,
           requirements{"comm.create.group", "comm.create.disjoint", "comm.create.not_a_member",
                        "comm.create_group.members_only", "comm.create_group.not_a_member"},
           over(axis_use{&creations}, axis_use{&groups}, few()), thread_safe{}) {
    make(mpi, mpi.at(creations));
}

ASSAY_TEST(comm, create_from_group,
           requirements{"comm.create_from_group.group", "comm.create_from_group.empty",
                        "comm.create_from_group.errhandler", "comm.create_from_group.stringtag"},
           over(axis_use{&groups}, few()), needs_procedures({"MPI_Comm_create_from_group"}), thread_safe{}) {
    make(mpi, creation::create_from_group);
}

// A name as long as may be, and another one that differs in its last character only.
ASSAY_TEST(comm, create_from_group_longest, requirements{"comm.create_from_group.stringtag"}, over(few()),
           needs_procedures({"MPI_Comm_create_from_group"})) {
    auto name = fmt::format("assay.longest.{}.{}.", local_of(mpi)[0], mpi.first_tag());
    name.resize(static_cast<std::size_t>(MPI_MAX_STRINGTAG_LEN) - 1, '.');
    group_handle const group(subgroup(mpi, mpi.comm, all_ranks(mpi.size)));
    MPI_Comm made[2] = {MPI_COMM_NULL, MPI_COMM_NULL};
    for (int i : {0, 1}) {
        name.back() = i == 0 ? 'a' : 'b';
        if (!mpi.ok(MPI_Comm_create_from_group(group, name.c_str(), MPI_INFO_NULL, MPI_ERRORS_RETURN, &made[i])))
            return;
        expect_communicator(mpi, made[i], local_of(mpi), {},
                            fmt::format("a communicator with a name of {} characters", name.size()));
    }
    for (auto& comm : made) free_communicator(mpi, comm);
}

// Of an intercommunicator: each side gives those of its own group that are to stay (figure 17 of the standard).
namespace {
enum class part { all, first, backwards, one_side };
axis<part> const parts("keep", {{{"all", "both groups whole"}, part::all},
                                {{"first", "the first process of each side"}, part::first},
                                {{"backwards", "both groups in reverse"}, part::backwards},
                                {{"one_side", "nobody of side 1"}, part::one_side}});
} // namespace

ASSAY_TEST(comm, create_inter, requirements{"comm.create.inter", "comm.create.inter.empty"},
           over(axis_use{&parts}, communicators::inter()), thread_safe{}) {
    auto const how = mpi.at(parts);
    auto const kept = [how](int size, int side) {
        auto ranks = all_ranks(size);
        if (how == part::first) ranks.resize(1);
        if (how == part::backwards) std::reverse(ranks.begin(), ranks.end());
        if (how == part::one_side && side == 1) ranks.clear();
        return ranks;
    };
    auto const here = kept(mpi.size, mpi.side), there = kept(mpi.remote_size, 1 - mpi.side);
    group_handle whole, group;
    mpi.ok(MPI_Comm_group(mpi.comm, whole.address()));
    if (!here.empty()) mpi.ok(MPI_Group_incl(whole, static_cast<int>(here.size()), here.data(), group.address()));
    MPI_Comm made = MPI_COMM_WORLD;
    if (!mpi.ok(MPI_Comm_create(mpi.comm, here.empty() ? MPI_GROUP_EMPTY : static_cast<MPI_Group>(group), &made)))
        return;
    if (there.empty() || !holds(here, mpi.rank)) {
        mpi.check(made == MPI_COMM_NULL, finding::value,
                  there.empty() ? "the remote group is empty: MPI_Comm_create must give MPI_COMM_NULL"
                                : "a process outside of the group must get MPI_COMM_NULL");
        return;
    }
    expect_communicator(mpi, made, at_ranks(local_of(mpi), here), at_ranks(remote_of(mpi), there),
                        "MPI_Comm_create of an intercommunicator");
    free_communicator(mpi, made);
}

// The tag of MPI_Comm_create_group is none of a message: a message under way with the same tag stays what it is.
ASSAY_TEST(comm, create_group_tag, requirements{"comm.create_group.tag"}, over(few()), thread_safe{}) {
    int const to = (mpi.rank + 1) % mpi.size, from = (mpi.rank - 1 + mpi.size) % mpi.size;
    int const out = 1000 + mpi.rank;
    int in = -7;
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    mpi.ok(MPI_Irecv(&in, 1, MPI_INT, from, mpi.tag(), mpi.comm, &requests[0]));
    group_handle const group(subgroup(mpi, mpi.comm, all_ranks(mpi.size)));
    MPI_Comm made = MPI_COMM_NULL;
    mpi.ok(MPI_Comm_create_group(mpi.comm, group, mpi.tag(), &made));
    mpi.ok(MPI_Isend(&out, 1, MPI_INT, to, mpi.tag(), mpi.comm, &requests[1]));
    mpi.ok(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    expect_number(mpi, in, 1000 + from, "the number of the message that was under way");
    expect_communicator(mpi, made, local_of(mpi), {}, "MPI_Comm_create_group");
    free_communicator(mpi, made);
}

// Two threads make communicators of the same group at once; tags tell the operations apart, whatever their order.
ASSAY_TEST(comm, create_group_threads, requirements{"comm.create_group.concurrent"}, over(communicators::world()),
           own_threads{2}) {
    processes everybody = local_of(mpi), backwards = everybody;
    std::reverse(backwards.begin(), backwards.end());
    int const first_tag = mpi.tag(0);
    MPI_Comm const comm = mpi.comm;
    auto const forward_ranks = all_ranks(mpi.size);
    group_handle const forward(subgroup(mpi, mpi.comm, forward_ranks));
    auto backward_ranks = forward_ranks;
    std::reverse(backward_ranks.begin(), backward_ranks.end());
    group_handle const backward(subgroup(mpi, mpi.comm, backward_ranks));
    MPI_Comm made[2] = {MPI_COMM_NULL, MPI_COMM_NULL};
    mpi.in_threads(2, false, [&](test_run& lane) {
        int const which = lane.thread();
        lane.ok(MPI_Comm_create_group(comm, which == 0 ? forward : backward, first_tag + which, &made[which]));
    });
    expect_communicator(mpi, made[0], everybody, {}, "the communicator of the first thread");
    expect_communicator(mpi, made[1], backwards, {}, "the communicator of the second thread");
    free_communicator(mpi, made[0]);
    free_communicator(mpi, made[1]);
}
