// Duplicates of a communicator (MPI-5.0 section 7.4.2): the same processes, error handler and topology, another context.
#include "suites/comm/comm.hpp"

#include <array>
#include <fmt/format.h>

using namespace assay;

namespace {

int times_called = 0;
void count_errors(MPI_Comm*, int*, ...) { ++times_called; }

} // namespace

ASSAY_TEST(comm, dup, requirements{"comm.dup.group", "comm.idup", "comm.dup_with_info"},
           over(axis_use{&duplications()}, communicators::usable()), thread_safe{}) {
    MPI_Comm copy = duplicate(mpi, mpi.at(duplications()), mpi.comm);
    int result = -7;
    if (!mpi.check(copy != MPI_COMM_NULL, finding::value, "the duplicate is MPI_COMM_NULL")) return;
    mpi.ok(MPI_Comm_compare(mpi.comm, copy, &result));
    expect_number(mpi, result, MPI_CONGRUENT, "MPI_Comm_compare of a communicator and its duplicate");
    expect_communicator(mpi, copy, local_of(mpi), remote_of(mpi), name_of(mpi.at(duplications())));
    free_communicator(mpi, copy);
}

// Messages with the same source, destination and tag: only the context tells them apart. Receives are posted in the
// order opposite to that of the sends, so that a library that mixes the contexts up cannot get it right.
ASSAY_TEST(comm, dup_context, requirements{"comm.dup.context"},
           over(axis_use{&duplications()}, communicators::usable()), thread_safe{}) {
    MPI_Comm copy = duplicate(mpi, mpi.at(duplications()), mpi.comm);
    if (!mpi.check(copy != MPI_COMM_NULL, finding::value, "the duplicate is MPI_COMM_NULL")) return;
    // Everybody to everybody: on an intercommunicator the groups may be of different sizes.
    auto const n = static_cast<std::size_t>(mpi.peers);
    std::vector<MPI_Request> requests;
    std::vector<int> in_copy(n, -7), in_comm(n, -7), out_copy(n), out_comm(n);
    auto const number = [](int from, int to, int which) { return from * 1000 + to * 2 + which; };
    for (int peer = 0; peer < mpi.peers; ++peer) {
        auto const p = static_cast<std::size_t>(peer);
        mpi.ok(MPI_Irecv(&in_copy[p], 1, MPI_INT, peer, mpi.tag(), copy, &requests.emplace_back(MPI_REQUEST_NULL)));
        mpi.ok(MPI_Irecv(&in_comm[p], 1, MPI_INT, peer, mpi.tag(), mpi.comm, &requests.emplace_back(MPI_REQUEST_NULL)));
    }
    for (int peer = 0; peer < mpi.peers; ++peer) {
        auto const p = static_cast<std::size_t>(peer);
        out_comm[p] = number(mpi.rank, peer, 0);
        out_copy[p] = number(mpi.rank, peer, 1);
        mpi.ok(
            MPI_Isend(&out_comm[p], 1, MPI_INT, peer, mpi.tag(), mpi.comm, &requests.emplace_back(MPI_REQUEST_NULL)));
        mpi.ok(MPI_Isend(&out_copy[p], 1, MPI_INT, peer, mpi.tag(), copy, &requests.emplace_back(MPI_REQUEST_NULL)));
    }
    mpi.ok(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE));
    for (int peer = 0; peer < mpi.peers; ++peer) {
        auto const p = static_cast<std::size_t>(peer);
        expect_number(mpi, in_comm[p], number(peer, mpi.rank, 0),
                      fmt::format("what rank {} sent on the original", peer));
        expect_number(mpi, in_copy[p], number(peer, mpi.rank, 1),
                      fmt::format("what rank {} sent on the duplicate", peer));
    }
    free_communicator(mpi, copy);
}

// A duplicate may be made while messages of the original are under way.
ASSAY_TEST(comm, dup_pending, requirements{"comm.dup.pending"}, over(axis_use{&duplications()}, few()), thread_safe{}) {
    int const to = (mpi.rank + 1) % mpi.size, from = (mpi.rank - 1 + mpi.size) % mpi.size;
    int const out = 500 + mpi.rank;
    int in = -7;
    MPI_Request request = MPI_REQUEST_NULL;
    mpi.ok(MPI_Irecv(&in, 1, MPI_INT, from, mpi.tag(), mpi.comm, &request));
    MPI_Comm copy = duplicate(mpi, mpi.at(duplications()), mpi.comm);
    mpi.ok(MPI_Send(&out, 1, MPI_INT, to, mpi.tag(), mpi.comm));
    mpi.ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
    expect_number(mpi, in, 500 + from, "the number of the message that was under way");
    expect_communicator(mpi, copy, local_of(mpi), {}, "the duplicate");
    free_communicator(mpi, copy);
}

ASSAY_TEST(comm, dup_errhandler, requirements{"comm.dup.errhandler"}, over(axis_use{&duplications()}, few())) {
    MPI_Errhandler mine = MPI_ERRHANDLER_NULL, found = MPI_ERRHANDLER_NULL;
    MPI_Comm base = MPI_COMM_NULL;
    mpi.ok(MPI_Comm_dup(mpi.comm, &base));
    mpi.ok(MPI_Comm_create_errhandler(count_errors, &mine));
    mpi.ok(MPI_Comm_set_errhandler(base, mine));
    MPI_Comm copy = duplicate(mpi, mpi.at(duplications()), base);
    mpi.ok(MPI_Comm_get_errhandler(copy, &found));
    times_called = 0;
    MPI_Comm_call_errhandler(copy, MPI_ERR_OTHER);
    expect_number(mpi, times_called, 1, "how often the error handler of the duplicate was called");
    // The handle may be another one, as that of a new object (section 9.3); what it does is the same.
    mpi.ok(MPI_Comm_set_errhandler(base, found));
    MPI_Comm_call_errhandler(base, MPI_ERR_OTHER);
    expect_number(mpi, times_called, 2, "how often the handler that MPI_Comm_get_errhandler gave was called, too");
    mpi.ok(MPI_Errhandler_free(&found));
    mpi.ok(MPI_Errhandler_free(&mine));
    free_communicator(mpi, copy);
    free_communicator(mpi, base);
}

// A duplicate of a duplicate of…: each has a context, and none is used up by what was freed.
ASSAY_TEST(comm, dup_many, requirements{"comm.dup.context", "comm.free.reuse"}, over(axis_use{&duplications()}, few()),
           thread_safe{}) {
    auto const how = mpi.at(duplications());
    constexpr int alive = 40, rounds = 60;
    std::vector<MPI_Comm> copies;
    for (int i = 0; i < alive; ++i) copies.push_back(duplicate(mpi, how, i == 0 ? mpi.comm : copies.back()));
    int const to = (mpi.rank + 1) % mpi.size, from = (mpi.rank - 1 + mpi.size) % mpi.size;
    std::array<int, alive> in, out;
    in.fill(-7);
    std::vector<MPI_Request> requests;
    for (std::size_t i = 0; i < alive; ++i)
        mpi.ok(MPI_Irecv(&in[i], 1, MPI_INT, from, mpi.tag(), copies[i], &requests.emplace_back(MPI_REQUEST_NULL)));
    for (std::size_t i = alive; i-- > 0;) {
        out[i] = mpi.rank * 100 + static_cast<int>(i);
        mpi.ok(MPI_Isend(&out[i], 1, MPI_INT, to, mpi.tag(), copies[i], &requests.emplace_back(MPI_REQUEST_NULL)));
    }
    mpi.ok(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE));
    for (std::size_t i = 0; i < alive; ++i)
        if (!expect_number(mpi, in[i], from * 100 + static_cast<int>(i), fmt::format("the message on duplicate {}", i)))
            break;
    for (auto& copy : copies) free_communicator(mpi, copy);
    for (int i = 0; i < rounds; ++i) {
        MPI_Comm copy = duplicate(mpi, how, mpi.comm);
        if (!mpi.check(copy != MPI_COMM_NULL, finding::value, fmt::format("duplicate {} is MPI_COMM_NULL", i))) return;
        free_communicator(mpi, copy);
    }
}

// Two nonblocking duplications at once, completed in the other order.
ASSAY_TEST(comm, idup_overlap, requirements{"comm.idup.overlap"}, over(few()), thread_safe{}) {
    MPI_Comm first = MPI_COMM_NULL, second = MPI_COMM_NULL;
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    mpi.ok(MPI_Comm_idup(mpi.comm, &first, &requests[0]));
    mpi.ok(MPI_Comm_idup(mpi.comm, &second, &requests[1]));
    int sum = -7;
    int const one = 1;
    mpi.ok(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, mpi.comm));
    expect_number(mpi, sum, mpi.size, "MPI_Allreduce while two duplications are under way");
    mpi.ok(MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
    mpi.ok(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    expect_communicator(mpi, first, local_of(mpi), {}, "the first duplicate");
    expect_communicator(mpi, second, local_of(mpi), {}, "the second duplicate");
    int result = -7;
    mpi.ok(MPI_Comm_compare(first, second, &result));
    expect_number(mpi, result, MPI_CONGRUENT, "MPI_Comm_compare of both duplicates");
    free_communicator(mpi, first);
    free_communicator(mpi, second);
}
