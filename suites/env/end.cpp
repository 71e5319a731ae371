// What MPI_Finalize does before it ends: callbacks of MPI_COMM_SELF, messages that are under way (MPI-5.0 sections 11.2.2
// and 11.2.4).
#include "framework/mpi/own_job.hpp"
#include "framework/mpi/run.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <numeric>
#include <thread>
#include <vector>

using namespace assay;

namespace {

struct seen_by_callbacks {
    std::vector<int> order;
    bool finalized = false, comm_wrong = false;
    int rank = -7; // of MPI_COMM_WORLD, asked in a callback
    int refused = 0;
};
seen_by_callbacks seen;

int on_delete(MPI_Comm comm, int, void* value, void* extra) {
    seen.order.push_back(*static_cast<int*>(value));
    int flag = -7;
    seen.finalized |= MPI_Finalized(&flag) != MPI_SUCCESS || flag != 0;
    seen.comm_wrong |= comm != MPI_COMM_SELF || extra != &seen;
    if (MPI_Comm_rank(MPI_COMM_WORLD, &seen.rank) != MPI_SUCCESS) ++seen.refused;
    return MPI_SUCCESS;
}

enum class keys { some, replaced, deleted, none };
axis<keys> const histories("attributes", {{{"some", "four, none of which is touched"}, keys::some},
                                          {{"replaced", "the first one is set again as the last"}, keys::replaced},
                                          {{"deleted", "one is deleted before"}, keys::deleted},
                                          {{"none", "keys only"}, keys::none}});

} // namespace

ASSAY_TEST(env, finalize_callbacks,
           requirements{"env.finalize.self_callbacks", "env.finalize.callback_order", "env.finalize.callbacks_first"},
           over(axis_use{&histories}), own_job{}) {
    auto const world = initialize(mpi);
    constexpr int n = 4;
    std::array<int, n> keyvals{};
    std::array<int, n + 1> values{};
    std::iota(values.begin(), values.end(), 0);
    auto const history = mpi.at(histories);
    std::vector<int> expected;
    auto const at = [](int k) { return static_cast<std::size_t>(k); };
    for (int k = 0; k < n; ++k) {
        mpi.ok(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_delete, &keyvals[at(k)], &seen));
        if (history == keys::none) continue;
        mpi.ok(MPI_Comm_set_attr(MPI_COMM_SELF, keyvals[at(k)], &values[at(k)]));
        expected.insert(expected.begin(), k);
    }
    if (history == keys::replaced) {
        mpi.ok(MPI_Comm_set_attr(MPI_COMM_SELF, keyvals[0], &values[n]));
        mpi.check(seen.order == std::vector{0}, finding::order,
                  fmt::format("setting an attribute again called the callbacks of [{}], expected that of [0]",
                              fmt::join(seen.order, " ")));
        // Whether its place in the order is that of the first or of the last time it was set is not said.
        expected = {};
    }
    if (history == keys::deleted) {
        mpi.ok(MPI_Comm_delete_attr(MPI_COMM_SELF, keyvals[2]));
        std::erase(expected, 2);
    }
    seen = {};
    // A key that is freed is still in use: that may not keep its callback from being called.
    if (history == keys::some) mpi.ok(MPI_Comm_free_keyval(&keyvals[1]));
    finalize(mpi);
    if (history == keys::replaced) {
        auto sorted = seen.order;
        std::sort(sorted.begin(), sorted.end());
        mpi.check(sorted == std::vector{1, 2, 3, 4}, finding::order,
                  fmt::format("MPI_Finalize called the callbacks of [{}], expected each of 4 3 2 1 once",
                              fmt::join(seen.order, " ")));
    } else {
        mpi.check(seen.order == expected, finding::order,
                  fmt::format("MPI_Finalize called the callbacks of [{}], expected [{}]: the last one first",
                              fmt::join(seen.order, " "), fmt::join(expected, " ")));
    }
    mpi.check(!seen.finalized, finding::value, "MPI_Finalized gives true in a callback of MPI_COMM_SELF");
    mpi.check(!seen.comm_wrong, finding::value,
              "a callback got another communicator than MPI_COMM_SELF, or another extra state");
    if (!expected.empty())
        mpi.check(seen.refused == 0 && seen.rank == world.rank, finding::value,
                  fmt::format("in a callback MPI_Comm_rank of MPI_COMM_WORLD gave {} ({} calls failed), expected {}",
                              seen.rank, seen.refused, world.rank));
}

namespace {
enum class sending { standard, buffered, freed, synchronous };
axis<sending> const sends("send", {{{"send", "MPI_Send"}, sending::standard},
                                   {{"bsend", "MPI_Bsend, the buffer stays attached"}, sending::buffered},
                                   {{"isend_free", "MPI_Isend, MPI_Request_free"}, sending::freed},
                                   {{"issend_free", "MPI_Issend, MPI_Request_free"}, sending::synchronous}});
axis<int> const lengths("count", {{{"1", "one int"}, 1}, {{"100003", "many"}, 100003}});
} // namespace

// The sender goes into MPI_Finalize at once, the receiver takes its time: what was sent has to arrive.
ASSAY_TEST(env, finalize_messages, requirements{"env.finalize.completes_messages", "env.finalize.attached_buffer"},
           over(axis_use{&sends}, axis_use{&lengths}), own_job{},
           needs{[](job const& j) { return j.np < 2 ? "needs at least 2 ranks" : ""; }}) {
    auto const world = initialize(mpi);
    auto const n = static_cast<std::size_t>(mpi.at(lengths));
    auto const value = [](int from, std::size_t i) { return from * 7 + static_cast<int>(i); };
    std::vector<int> data(n, -7);
    std::vector<char> room(n * sizeof(int) + MPI_BSEND_OVERHEAD + 64);
    int const partner = world.rank ^ 1;
    if (partner < world.size && world.rank % 2 == 0) {
        for (std::size_t i = 0; i < n; ++i) data[i] = value(world.rank, i);
        MPI_Request request = MPI_REQUEST_NULL;
        auto const count = static_cast<int>(n);
        switch (mpi.at(sends)) {
        case sending::standard: mpi.ok(MPI_Send(data.data(), count, MPI_INT, partner, 5, MPI_COMM_WORLD)); break;
        case sending::buffered:
            mpi.ok(MPI_Buffer_attach(room.data(), static_cast<int>(room.size())));
            mpi.ok(MPI_Bsend(data.data(), count, MPI_INT, partner, 5, MPI_COMM_WORLD));
            break;
        case sending::freed:
            mpi.ok(MPI_Isend(data.data(), count, MPI_INT, partner, 5, MPI_COMM_WORLD, &request));
            mpi.ok(MPI_Request_free(&request));
            break;
        case sending::synchronous:
            mpi.ok(MPI_Issend(data.data(), count, MPI_INT, partner, 5, MPI_COMM_WORLD, &request));
            mpi.ok(MPI_Request_free(&request));
            break;
        }
    } else if (world.rank % 2 == 1) {
        std::this_thread::sleep_for(std::chrono::milliseconds(30));
        auto status = poisoned_status();
        mpi.ok(MPI_Recv(data.data(), static_cast<int>(n), MPI_INT, partner, 5, MPI_COMM_WORLD, &status));
        mpi.expect(status).source(partner).tag(5).count(n, MPI_INT, sizeof(int));
        for (std::size_t i = 0; i < n; ++i)
            if (!mpi.check(data[i] == value(partner, i), finding::data,
                           fmt::format("element {} is {}, expected {}", i, data[i], value(partner, i))))
                break;
    }
    finalize(mpi);
    room.assign(room.size(), 'x'); // the user's again
}
