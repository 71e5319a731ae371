// Many sends are cancelled at once (MPI-5.0 section 3.8.4).
#include "framework/check/logical.hpp"
#include "suites/p2p/pair.hpp"

#include <chrono>
#include <fmt/format.h>
#include <thread>

using namespace assay;
using namespace assay::p2p;

namespace {
axis<bool> const synchronous("mode", {{{"standard", "MPI_Isend"}, false}, {{"synchronous", "MPI_Issend"}, true}});
struct burst {
    std::size_t messages, ints;
};
axis<burst> const bursts("messages",
                         {{{"2000_small", "2000 of one int: more than a library has room or requests for"}, {2000, 1}},
                          {{"500_of_8kb", "500 of 8 kB: some of them wait within the sender"}, {500, 2000}},
                          {{"64_of_80kb", "64 of 80 kB: libraries ask the receiver first"}, {64, 20000}}});
} // namespace

// A rank cancels more messages than its library can hand over while the receiver takes none: some have been delivered by then, others
// wait for their turn within the sender.
ASSAY_TEST(p2p, cancel_queued, requirements{"p2p.cancel.send", "p2p.cancel.test_cancelled"},
           over(axis_use{&synchronous}, axis_use{&bursts}, communicators::few()), thread_safe{}) {
    auto const p = pair_of(mpi);
    if (p.idle) return;
    auto const [many, n] = mpi.at(bursts);
    auto const count = static_cast<int>(n), all = static_cast<int>(many);
    std::vector<std::vector<int>> out, in(many, room(n));
    std::vector<MPI_Request> sends(many, MPI_REQUEST_NULL), receives(many, MPI_REQUEST_NULL);
    std::vector<MPI_Status> statuses(many, poisoned_status());
    for (int i = 0; i < all; ++i) out.push_back(message(mpi.key_to(p.to, i), n));
    // Every other one is outside of MPI while its sender sends and cancels: nobody takes a message for it behind its back.
    if ((mpi.inter ? mpi.side : mpi.rank % 2) == 1) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    for (std::size_t i = 0; i < many; ++i)
        mpi.ok(mpi.at(synchronous) ? MPI_Issend(out[i].data(), count, MPI_INT, p.to, mpi.tag(0), mpi.comm, &sends[i])
                                   : MPI_Isend(out[i].data(), count, MPI_INT, p.to, mpi.tag(0), mpi.comm, &sends[i]));
    for (auto& send : sends) mpi.ok(MPI_Cancel(&send));
    await_sender(mpi, p);
    for (std::size_t i = 0; i < many; ++i)
        mpi.ok(MPI_Irecv(in[i].data(), count, MPI_INT, p.from, mpi.tag(0), mpi.comm, &receives[i]));
    mpi.ok(MPI_Waitall(all, sends.data(), statuses.data()));
    std::vector<int> mine(many, -1), theirs(many, -1);
    for (std::size_t i = 0; i < many; ++i) {
        mpi.ok(MPI_Test_cancelled(&statuses[i], &mine[i]));
        mine[i] = logical(mine[i]) ? 1 : 0;
    }
    mpi.ok(MPI_Sendrecv(mine.data(), all, MPI_INT, p.to, mpi.tag(1), theirs.data(), all, MPI_INT, p.from, mpi.tag(1),
                        mpi.comm, MPI_STATUS_IGNORE));
    std::size_t came = 0;
    for (int i = 0; i < all; ++i) {
        auto const said = theirs[static_cast<std::size_t>(i)];
        if (said != 0) continue;
        auto status = poisoned_status();
        mpi.ok(MPI_Wait(&receives[came], &status));
        expect_status(mpi, status, p.from, mpi.tag(0), n);
        expect_message(mpi, in[came++], mpi.key_from(p.from, i), n, fmt::format("message {}, not cancelled", i));
    }
    for (auto i = came; i < many; ++i) {
        int cancelled = 0;
        auto status = poisoned_status();
        mpi.ok(MPI_Cancel(&receives[i]));
        mpi.ok(MPI_Wait(&receives[i], &status));
        mpi.ok(MPI_Test_cancelled(&status, &cancelled));
        mpi.check(logical(cancelled) && in[i] == room(n), finding::cancelled,
                  fmt::format("{} of {} messages were cancelled, and yet {} came", many - came, many, i + 1));
    }
}
