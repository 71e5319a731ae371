// One list with requests of every kind that MPI has: the calls that complete lists ask for no particular one (MPI-5.0 sections
// 3.7.5, 6.12, 7.4.2, 12.3.5, 13.2 and 14.4.1).
#include "framework/process/calls.hpp"
#include "suites/common/completion.hpp"
#include "suites/io/file.hpp"

#include <cstring>
#include <fmt/format.h>

using namespace assay;

namespace {

enum kind {
    receive,
    file_write,
    reduction,
    persistent_receive,
    get,
    generalized,
    persistent_send,
    duplicate,
    send,
    kinds
};
constexpr int source_of_query = 5, tag_of_query = 6, count_of_query = 7;

int query(void*, MPI_Status* status) {
    calls_of_the_framework const not_of_the_test; // the last call is the one that asks
    MPI_Status_set_elements(status, MPI_INT, count_of_query);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = source_of_query;
    status->MPI_TAG = tag_of_query;
    return MPI_SUCCESS;
}
int release(void*) { return MPI_SUCCESS; }
int cancel(void*, int) { return MPI_SUCCESS; }

} // namespace

ASSAY_TEST(p2p, requests_of_all_kinds,
           requirements{"p2p.completion", "p2p.completion.all_statuses", "p2p.completion.any_one",
                        "coll.nonblocking.mixed", "grequest.mixed", "rma.request", "io.nonblocking"},
           over(only(completion_calls(), [](completion_call const& c) { return !c.single(); }),
                communicators::of({"world", "reversed"})),
           needs_procedures({"MPI_File_open", "MPI_Comm_idup"}),
           note{"messages, a file, a window, a collective operation, a new communicator and an operation of our own"}) {
    int const right = (mpi.rank + 1) % mpi.size, left = (mpi.rank + mpi.size - 1) % mpi.size;
    int const value = 1000 + mpi.rank, of_left = 1000 + left, of_right = 1000 + right;
    int received = -7, sum = -7, received_again = -7, got = -7;
    MPI_Win window = MPI_WIN_NULL;
    int* exposed = nullptr;
    if (!mpi.ok(MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, mpi.comm, &exposed, &window))) return;
    mpi.ok(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, mpi.rank, 0, window));
    *exposed = value;
    mpi.ok(MPI_Win_unlock(mpi.rank, window));
    io::scratch_file scratch(mpi);
    std::vector<unsigned char> bytes(static_cast<std::size_t>(mpi.size) * sizeof(int));
    scratch.make(&bytes); // every window holds its value when this returns
    io::open_file file(mpi, scratch.path(), MPI_MODE_WRONLY);
    if (file.opened()) {
        MPI_Comm made = MPI_COMM_NULL;
        std::vector<MPI_Request> requests(kinds, MPI_REQUEST_NULL);
        std::vector<bool> persistent(kinds, false);
        persistent[persistent_receive] = persistent[persistent_send] = true;
        mpi.ok(MPI_Win_lock_all(0, window));
        mpi.ok(MPI_Irecv(&received, 1, MPI_INT, left, mpi.tag(0), mpi.comm, &requests[receive]));
        mpi.ok(MPI_Recv_init(&received_again, 1, MPI_INT, right, mpi.tag(1), mpi.comm, &requests[persistent_receive]));
        mpi.ok(MPI_Send_init(&value, 1, MPI_INT, left, mpi.tag(1), mpi.comm, &requests[persistent_send]));
        mpi.ok(MPI_File_iwrite_at(file, static_cast<MPI_Offset>(sizeof(int)) * mpi.rank, &value, 1, MPI_INT,
                                  &requests[file_write]));
        mpi.ok(MPI_Iallreduce(&value, &sum, 1, MPI_INT, MPI_SUM, mpi.comm, &requests[reduction]));
        mpi.ok(MPI_Comm_idup(mpi.comm, &made, &requests[duplicate]));
        mpi.ok(MPI_Rget(&got, 1, MPI_INT, right, 0, 1, MPI_INT, window, &requests[get]));
        mpi.ok(MPI_Grequest_start(query, release, cancel, nullptr, &requests[generalized]));
        mpi.ok(MPI_Start(&requests[persistent_receive]));
        mpi.ok(MPI_Start(&requests[persistent_send]));
        mpi.ok(MPI_Isend(&value, 1, MPI_INT, right, mpi.tag(0), mpi.comm, &requests[send]));
        mpi.ok(MPI_Grequest_complete(requests[generalized]));
        auto const statuses = complete(mpi, mpi.at(completion_calls()), requests, {.persistent = persistent});
        mpi.expect(statuses[receive]).source(left).tag(mpi.tag(0)).count(1, MPI_INT, sizeof(int)).not_cancelled();
        mpi.expect(statuses[persistent_receive])
            .source(right)
            .tag(mpi.tag(1))
            .count(1, MPI_INT, sizeof(int))
            .not_cancelled();
        mpi.expect(statuses[file_write]).count(1, MPI_INT, sizeof(int)).not_cancelled();
        mpi.expect(statuses[generalized])
            .source(source_of_query)
            .tag(tag_of_query)
            .count(count_of_query, MPI_INT, sizeof(int))
            .not_cancelled();
        for (auto const one : {send, persistent_send}) mpi.expect(statuses[one]).not_cancelled();
        mpi.ok(MPI_Win_unlock_all(window));
        int const ranks = mpi.size * (mpi.size - 1) / 2;
        auto const holds = [&](int found, int expected, char const* what) {
            mpi.check(found == expected, finding::data, fmt::format("{} gives {}, expected {}", what, found, expected));
        };
        holds(received, of_left, "MPI_Irecv");
        holds(received_again, of_right, "MPI_Recv_init");
        holds(sum, 1000 * mpi.size + ranks, "MPI_Iallreduce");
        holds(got, of_right, "MPI_Rget");
        if (mpi.check(made != MPI_COMM_NULL, finding::value, "MPI_Comm_idup gives MPI_COMM_NULL")) {
            int compared = -7;
            mpi.ok(MPI_Comm_compare(made, mpi.comm, &compared));
            mpi.check(compared == MPI_CONGRUENT, finding::value,
                      "the communicator of MPI_Comm_idup is not congruent to its parent");
            mpi.ok(MPI_Comm_free(&made));
        }
        for (auto const one : {persistent_receive, persistent_send})
            if (requests[one] != MPI_REQUEST_NULL) mpi.ok(MPI_Request_free(&requests[one]));
        file.close();
        io::image content;
        for (int rank = 0; rank < mpi.size; ++rank) {
            int const of_rank = 1000 + rank;
            std::vector<unsigned char> piece(sizeof(int));
            std::memcpy(piece.data(), &of_rank, sizeof(int));
            content.place(static_cast<std::size_t>(rank) * sizeof(int), piece, rank);
        }
        scratch.expect(content);
    }
    mpi.ok(MPI_Win_free(&window));
}
