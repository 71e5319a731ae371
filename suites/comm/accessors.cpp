// What a communicator says of itself (MPI-5.0 sections 7.4.1 and 7.6.1), against its definition.
#include "suites/comm/comm.hpp"

#include <algorithm>
#include <fmt/format.h>

using namespace assay;

namespace {

// What the communicator of the case is compared with.
enum class other { itself, duplicate, backwards, self, world };
axis<other> const others("with",
                         {{{"itself", "the same handle"}, other::itself},
                          {{"duplicate", "its duplicate"}, other::duplicate},
                          {{"backwards", "the same processes in reverse, made by MPI_Comm_split"}, other::backwards},
                          {{"self", "MPI_COMM_SELF"}, other::self},
                          {{"world", "MPI_COMM_WORLD"}, other::world}});

char const* name_of(int result) {
    return result == MPI_IDENT       ? "MPI_IDENT"
           : result == MPI_CONGRUENT ? "MPI_CONGRUENT"
           : result == MPI_SIMILAR   ? "MPI_SIMILAR"
           : result == MPI_UNEQUAL   ? "MPI_UNEQUAL"
                                     : "none of the four results";
}

bool same_members(processes a, processes b) {
    std::sort(a.begin(), a.end());
    std::sort(b.begin(), b.end());
    return a == b;
}

} // namespace

ASSAY_TEST(comm, accessors,
           requirements{"comm.size", "comm.rank", "comm.test_inter", "comm.remote_size", "comm.size.inter"},
           over(communicators::usable()), thread_safe{}) {
    int size = -7, rank = -7, flag = -7;
    mpi.ok(MPI_Comm_size(mpi.comm, &size));
    mpi.ok(MPI_Comm_rank(mpi.comm, &rank));
    mpi.ok(MPI_Comm_test_inter(mpi.comm, &flag));
    expect_number(mpi, size, mpi.size, "MPI_Comm_size");
    expect_number(mpi, rank, mpi.rank, "MPI_Comm_rank");
    expect_number(mpi, flag != 0, mpi.inter, "MPI_Comm_test_inter");
    if (!mpi.inter) return;
    int remote = -7;
    mpi.ok(MPI_Comm_remote_size(mpi.comm, &remote));
    expect_number(mpi, remote, mpi.remote_size, "MPI_Comm_remote_size");
}

ASSAY_TEST(comm, predefined, requirements{"comm.world", "comm.self"}, over(communicators::world()), thread_safe{}) {
    processes everybody;
    for (int process = 0; process < mpi.the_job.np; ++process) everybody.push_back(process);
    expect_communicator(mpi, MPI_COMM_WORLD, everybody, {}, "MPI_COMM_WORLD");
    expect_communicator(mpi, MPI_COMM_SELF, {own_process()}, {}, "MPI_COMM_SELF");
    // A message to oneself: on MPI_COMM_SELF nobody else can be meant.
    int const out = 41 + own_process();
    int in = -7;
    mpi.ok(
        MPI_Sendrecv(&out, 1, MPI_INT, 0, mpi.tag(), &in, 1, MPI_INT, 0, mpi.tag(), MPI_COMM_SELF, MPI_STATUS_IGNORE));
    expect_number(mpi, in, out, "the number that a process sent to rank 0 of its MPI_COMM_SELF");
}

ASSAY_TEST(comm, compare,
           requirements{"comm.compare.ident", "comm.compare.congruent", "comm.compare.similar", "comm.compare.unequal",
                        "comm.compare.inter"},
           over(axis_use{&others}, communicators::usable()),
           // What comes from a session must not meet what does not in one call (section 11.3).
           where(others, comm_axis(),
                 [](other with, communicator const& c) {
                     return c.name != "create_from_group" || (with != other::self && with != other::world);
                 }),
           thread_safe{}) {
    auto const local = local_of(mpi), remote = remote_of(mpi);
    auto other_local = local, other_remote = remote;
    bool same_object = false;
    MPI_Comm with = MPI_COMM_NULL;
    switch (mpi.at(others)) {
    case other::itself:
        with = mpi.comm;
        same_object = true;
        break;
    case other::duplicate: mpi.ok(MPI_Comm_dup(mpi.comm, &with)); break;
    case other::backwards:
        mpi.ok(MPI_Comm_split(mpi.comm, 0, -mpi.rank, &with));
        std::reverse(other_local.begin(), other_local.end());
        std::reverse(other_remote.begin(), other_remote.end());
        break;
    case other::self:
        with = MPI_COMM_SELF;
        same_object = mpi.comm == MPI_COMM_SELF;
        other_local = {own_process()};
        other_remote.clear();
        break;
    case other::world:
        with = MPI_COMM_WORLD;
        same_object = mpi.comm == MPI_COMM_WORLD;
        other_local.clear();
        for (int process = 0; process < mpi.the_job.np; ++process) other_local.push_back(process);
        other_remote.clear();
        break;
    }
    int expected = MPI_UNEQUAL;
    if (same_object) expected = MPI_IDENT;
    else if (local == other_local && remote == other_remote) expected = MPI_CONGRUENT;
    else if (same_members(local, other_local) && same_members(remote, other_remote)) expected = MPI_SIMILAR;
    for (bool const swapped : {false, true}) {
        int result = -7;
        mpi.ok(MPI_Comm_compare(swapped ? with : mpi.comm, swapped ? mpi.comm : with, &result));
        mpi.check(result == expected, finding::value,
                  fmt::format("MPI_Comm_compare{} gives {} ({}), expected {}",
                              swapped ? ", its arguments exchanged," : "", name_of(result), result, name_of(expected)));
    }
    if (with != mpi.comm && with != MPI_COMM_SELF && with != MPI_COMM_WORLD) free_communicator(mpi, with);
}
