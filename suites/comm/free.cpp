// The end of a communicator (MPI-5.0 sections 7.4.3 and 11.10.4): what uses it goes on to work.
#include "suites/comm/comm.hpp"

#include <fmt/format.h>

using namespace assay;

namespace {

// What is under way when the communicator is freed.
enum class pending { receive, send, collective, persistent };
axis<pending> const
    pendings("pending",
             {{{"receive", "MPI_Irecv"}, pending::receive},
              {{"send", "MPI_Issend"}, pending::send},
              {{"collective", "MPI_Iallreduce"}, pending::collective},
              {{"persistent", "requests of MPI_Send_init and MPI_Recv_init that are inactive"}, pending::persistent}});

enum class ending { free, disconnect };
axis<ending> const endings("call", {{{"free", "MPI_Comm_free"}, ending::free},
                                    {{"disconnect", "MPI_Comm_disconnect"}, ending::disconnect}});

} // namespace

ASSAY_TEST(comm, free_pending, requirements{"comm.free.handle", "comm.free.pending", "comm.free.inactive"},
           over(axis_use{&pendings}, few()), thread_safe{}) {
    int const to = (mpi.rank + 1) % mpi.size, from = (mpi.rank - 1 + mpi.size) % mpi.size;
    MPI_Comm copy = MPI_COMM_NULL;
    mpi.ok(MPI_Comm_dup(mpi.comm, &copy));
    int out = 300 + mpi.rank, in = -7, expected = 300 + from;
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    switch (mpi.at(pendings)) {
    case pending::receive:
        mpi.ok(MPI_Irecv(&in, 1, MPI_INT, from, mpi.tag(), copy, &requests[0]));
        mpi.ok(MPI_Isend(&out, 1, MPI_INT, to, mpi.tag(), copy, &requests[1]));
        break;
    case pending::send:
        mpi.ok(MPI_Issend(&out, 1, MPI_INT, to, mpi.tag(), copy, &requests[1]));
        mpi.ok(MPI_Irecv(&in, 1, MPI_INT, from, mpi.tag(), copy, &requests[0]));
        break;
    case pending::collective:
        mpi.ok(MPI_Iallreduce(&out, &in, 1, MPI_INT, MPI_SUM, copy, &requests[0]));
        expected = 0;
        for (int rank = 0; rank < mpi.size; ++rank) expected += 300 + rank;
        break;
    case pending::persistent:
        mpi.ok(MPI_Recv_init(&in, 1, MPI_INT, from, mpi.tag(), copy, &requests[0]));
        mpi.ok(MPI_Send_init(&out, 1, MPI_INT, to, mpi.tag(), copy, &requests[1]));
        break;
    }
    free_communicator(mpi, copy);
    // Another communicator may get what the freed one gave back; it must not get in the way.
    MPI_Comm next = MPI_COMM_NULL;
    mpi.ok(MPI_Comm_dup(mpi.comm, &next));
    if (mpi.at(pendings) == pending::persistent) mpi.ok(MPI_Startall(2, requests));
    mpi.ok(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    expect_number(mpi, in, expected, "what arrived on the communicator that was freed meanwhile");
    if (mpi.at(pendings) == pending::persistent)
        for (auto& request : requests) mpi.ok(MPI_Request_free(&request));
    expect_communicator(mpi, next, local_of(mpi), {}, "a communicator made after the one that was freed");
    free_communicator(mpi, next);
}

ASSAY_TEST(comm, free_parent, requirements{"comm.free.parent", "comm.disconnect"},
           over(axis_use{&endings}, communicators::usable()), thread_safe{}) {
    MPI_Comm parent = MPI_COMM_NULL, child = MPI_COMM_NULL;
    mpi.ok(MPI_Comm_dup(mpi.comm, &parent));
    mpi.ok(MPI_Comm_dup(parent, &child));
    if (mpi.at(endings) == ending::free) free_communicator(mpi, parent);
    else {
        mpi.ok(MPI_Comm_disconnect(&parent));
        mpi.check(parent == MPI_COMM_NULL, finding::value, "MPI_Comm_disconnect must set the handle to MPI_COMM_NULL");
    }
    expect_communicator(mpi, child, local_of(mpi), remote_of(mpi), "a duplicate of a communicator that is gone");
    if (mpi.at(endings) == ending::free) free_communicator(mpi, child);
    else {
        mpi.ok(MPI_Comm_disconnect(&child));
        mpi.check(child == MPI_COMM_NULL, finding::value, "MPI_Comm_disconnect must set the handle to MPI_COMM_NULL");
    }
}
