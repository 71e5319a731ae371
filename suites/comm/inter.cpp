// Intercommunicators (MPI-5.0 section 7.6.2): made of two intracommunicators or two groups, and merged again.
#include "suites/comm/comm.hpp"

#include <algorithm>
#include <fmt/format.h>

using namespace assay;

namespace {

enum class leader { first, last };
axis<leader> const leaders("leader", {{{"first", "rank 0 of each side"}, leader::first},
                                      {{"last", "the last rank of each side"}, leader::last}});

enum class grouping { halves, alternate, pairs };
axis<grouping> const
    groupings("sides", {{{"halves", "the lower and the upper half"}, grouping::halves},
                        {{"alternate", "even ranks, and odd ones in reverse"}, grouping::alternate},
                        {{"pairs", "MPI_COMM_SELF of two neighbours; a last one is left over"}, grouping::pairs}});

struct sides {
    processes here, there; // empty: not in it
    int side = 0;
    int color = 0; // tells apart intercommunicators that are made at once
};

sides divide(grouping how, int np, int me) {
    sides s;
    if (how == grouping::pairs) {
        int const partner = me ^ 1;
        if (partner >= np) return s;
        return {{me}, {partner}, me % 2, me / 2};
    }
    processes group[2];
    for (int process = 0; process < np; ++process)
        group[how == grouping::halves ? static_cast<int>(process >= np / 2) : process % 2].push_back(process);
    if (how == grouping::alternate) std::reverse(group[1].begin(), group[1].end());
    s.side = how == grouping::halves ? static_cast<int>(me >= np / 2) : me % 2;
    s.here = group[s.side];
    s.there = group[1 - s.side];
    return s;
}

constraint enough_ranks() {
    return where(groupings, [](job const& j, grouping) { return j.np >= 2; });
}

// MPI_COMM_SELF, or the intracommunicator of one side.
MPI_Comm make_side(test_run& mpi, grouping how, sides const& s) {
    MPI_Comm local = MPI_COMM_NULL;
    if (how == grouping::pairs) mpi.ok(MPI_Comm_dup(MPI_COMM_SELF, &local));
    else
        mpi.ok(
            MPI_Comm_split(mpi.comm, s.side, how == grouping::alternate && s.side == 1 ? -mpi.rank : mpi.rank, &local));
    return local;
}

} // namespace

ASSAY_TEST(comm, intercomm_create,
           requirements{"comm.intercomm_create", "comm.intercomm_create.leader", "comm.intercomm_create.peer"},
           over(axis_use{&groupings}, axis_use{&leaders}, communicators::world()), enough_ranks(), thread_safe{}) {
    auto const how = mpi.at(groupings);
    auto const s = divide(how, mpi.size, mpi.rank);
    if (s.here.empty()) return;
    bool const last = mpi.at(leaders) == leader::last;
    MPI_Comm local = make_side(mpi, how, s);
    int const local_leader = last ? static_cast<int>(s.here.size()) - 1 : 0;
    // Only the leader says where the other one is: the peer communicator means nothing to the others.
    bool const leads = s.here[static_cast<std::size_t>(local_leader)] == mpi.rank;
    int const remote_leader = leads ? (last ? s.there.back() : s.there.front()) : -1;
    MPI_Comm made = MPI_COMM_WORLD;
    bool const returned = mpi.ok(
        MPI_Intercomm_create(local, local_leader, leads ? mpi.comm : MPI_COMM_NULL, remote_leader, mpi.tag(1), &made));
    if (returned && mpi.check(made != MPI_COMM_WORLD, finding::value, "the new communicator was not written")) {
        // The intracommunicator may go; the new one stays.
        free_communicator(mpi, local);
        expect_communicator(mpi, made, s.here, s.there, "MPI_Intercomm_create");
        free_communicator(mpi, made);
    }
}

ASSAY_TEST(comm, intercomm_create_from_empty, requirements{"comm.intercomm_create_from_groups.empty"},
           over(communicators::world()), needs_procedures({"MPI_Intercomm_create_from_groups"})) {
    MPI_Comm made = MPI_COMM_WORLD;
    mpi.ok(MPI_Intercomm_create_from_groups(MPI_GROUP_EMPTY, 0, MPI_GROUP_EMPTY, 0, "assay.empty", MPI_INFO_NULL,
                                            MPI_ERRORS_RETURN, &made));
    mpi.check(made == MPI_COMM_NULL, finding::value, "two empty groups must give MPI_COMM_NULL");
}

ASSAY_TEST(comm, intercomm_create_from_groups, requirements{"comm.intercomm_create_from_groups"},
           over(axis_use{&groupings}, axis_use{&leaders}, communicators::world()), enough_ranks(),
           needs_procedures({"MPI_Intercomm_create_from_groups"}), thread_safe{}) {
    auto const s = divide(mpi.at(groupings), mpi.size, mpi.rank);
    if (s.here.empty()) return;
    bool const last = mpi.at(leaders) == leader::last;
    group_handle const here(subgroup(mpi, mpi.comm, s.here)), there(subgroup(mpi, mpi.comm, s.there));
    auto const index = [last](processes const& group) { return last ? static_cast<int>(group.size()) - 1 : 0; };
    MPI_Comm made = MPI_COMM_WORLD;
    auto const name = fmt::format("assay.inter.{}.{}", s.color, mpi.first_tag());
    if (!mpi.ok(MPI_Intercomm_create_from_groups(here, index(s.here), there, index(s.there), name.c_str(),
                                                 MPI_INFO_NULL, MPI_ERRORS_RETURN, &made)) ||
        !mpi.check(made != MPI_COMM_WORLD, finding::value, "the new communicator was not written"))
        return;
    expect_communicator(mpi, made, s.here, s.there, "MPI_Intercomm_create_from_groups");
    free_communicator(mpi, made);
}

namespace {
enum class order { side0_first, side1_first, both_low, both_high };
axis<order> const orders("high", {{{"side1", "side 1 is high: after side 0"}, order::side0_first},
                                  {{"side0", "side 0 is high: after side 1"}, order::side1_first},
                                  {{"none", "neither: the order is the library's"}, order::both_low},
                                  {{"both", "both: the order is the library's"}, order::both_high}});
} // namespace

ASSAY_TEST(comm, merge,
           requirements{"comm.merge.order", "comm.merge.arbitrary", "comm.merge.errhandler", "dynamic.merge"},
           over(axis_use{&orders}, communicators::inter()), thread_safe{}) {
    auto const how = mpi.at(orders);
    auto const local = local_of(mpi), remote = remote_of(mpi);
    auto const append = [](processes first, processes const& second) {
        first.insert(first.end(), second.begin(), second.end());
        return first;
    };
    auto const zero_first = mpi.side == 0 ? append(local, remote) : append(remote, local);
    auto const one_first = mpi.side == 0 ? append(remote, local) : append(local, remote);
    // Any value but 0 is true.
    int const high = how == order::both_high || (how == order::side0_first && mpi.side == 1) ? 1
                     : how == order::side1_first && mpi.side == 0                            ? 77
                                                                                             : 0;
    MPI_Comm made = MPI_COMM_NULL;
    if (!mpi.ok(MPI_Intercomm_merge(mpi.comm, high, &made))) return;
    // The error handler of the intercommunicator is the framework's, MPI_ERRORS_RETURN. Advisory: section 7.6.2 says that of
    // "the new inter-communicator", and there is none.
    MPI_Errhandler found = MPI_ERRHANDLER_NULL;
    mpi.ok(MPI_Comm_get_errhandler(made, &found));
    mpi.check("comm.merge.errhandler", found == MPI_ERRORS_RETURN, finding::value,
              "the merged communicator has another error handler than the intercommunicator");
    mpi.ok(MPI_Errhandler_free(&found));
    int rank = -7;
    mpi.ok(MPI_Comm_rank(made, &rank));
    bool zero = how != order::side1_first;
    if (how == order::both_low || how == order::both_high) {
        // Either will do, if all agree: which one is seen from the own rank.
        auto const at = std::find(zero_first.begin(), zero_first.end(), own_process());
        zero = at - zero_first.begin() == rank;
    }
    expect_communicator(mpi, made, zero ? zero_first : one_first, {}, "MPI_Intercomm_merge");
    free_communicator(mpi, made);
}
