// Persistent requests from their creation to their end (MPI-5.0 section 3.9), and cancelling (3.8.4).
#include "framework/check/logical.hpp"
#include "suites/p2p/exchange.hpp"
#include "suites/p2p/pair.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>

using namespace assay;
using namespace assay::p2p;

namespace {

using mode_kind = enum send_mode::kind;

int send_init(test_run& mpi, mode_kind kind, std::vector<int>& data, int to, int tag, MPI_Request* request) {
    auto const n = static_cast<int>(data.size());
    switch (kind) {
    case mode_kind::standard: return MPI_Send_init(data.data(), n, MPI_INT, to, tag, mpi.comm, request);
    case mode_kind::buffered: return MPI_Bsend_init(data.data(), n, MPI_INT, to, tag, mpi.comm, request);
    case mode_kind::synchronous: return MPI_Ssend_init(data.data(), n, MPI_INT, to, tag, mpi.comm, request);
    case mode_kind::ready: return MPI_Rsend_init(data.data(), n, MPI_INT, to, tag, mpi.comm, request);
    }
    return MPI_ERR_INTERN;
}

axis<mode_kind> const kinds("mode", {{{"send_init", "MPI_Send_init"}, mode_kind::standard},
                                     {{"bsend_init", "MPI_Bsend_init"}, mode_kind::buffered},
                                     {{"ssend_init", "MPI_Ssend_init"}, mode_kind::synchronous},
                                     {{"rsend_init", "MPI_Rsend_init"}, mode_kind::ready}});
axis<bool> const starting("start", {{{"start", "MPI_Start, one by one"}, false}, {{"startall", "MPI_Startall"}, true}});
axis<std::size_t> const lengths("ints", {{{"0", "empty"}, 0}, {{"5", "small"}, 5}, {{"60000", "large"}, 60000}});

void start(test_run& mpi, bool all, std::vector<MPI_Request>& requests) {
    if (all) mpi.ok(MPI_Startall(static_cast<int>(requests.size()), requests.data()));
    else
        for (auto& request : requests) mpi.ok(MPI_Start(&request));
}

class buffer_for_sends {
public:
    buffer_for_sends(test_run& mpi, mode_kind kind, std::size_t messages, std::size_t ints) : mpi_(mpi) {
        if (kind != mode_kind::buffered) return;
        int packed = 0;
        mpi.ok(MPI_Pack_size(static_cast<int>(ints), MPI_INT, mpi.comm, &packed));
        space_.resize(messages * (static_cast<std::size_t>(packed) + MPI_BSEND_OVERHEAD));
        mpi.ok(MPI_Buffer_attach(space_.data(), static_cast<int>(space_.size())));
    }
    ~buffer_for_sends() {
        void* address = nullptr;
        int size = 0;
        if (!space_.empty()) mpi_.ok(MPI_Buffer_detach(&address, &size));
    }
    buffer_for_sends(buffer_for_sends const&) = delete;
    buffer_for_sends& operator=(buffer_for_sends const&) = delete;

private:
    test_run& mpi_;
    std::vector<char> space_;
};

} // namespace

ASSAY_TEST(p2p, persistent_rounds,
           requirements{"p2p.persistent.created_inactive", "p2p.persistent.data_at_start",
                        "p2p.persistent.inactive_again", "p2p.startall.all", "p2p.persistent.free"},
           over(axis_use{&kinds}, axis_use{&starting}, axis_use{&lengths}, communicators::few()),
           note{"three sends and receives of one list, ten rounds with new data"}) {
    auto const kind = mpi.at(kinds);
    auto const p = pair_of(mpi);
    if (p.idle) return;
    auto const n = mpi.at(lengths);
    constexpr std::size_t each = 3;
    buffer_for_sends const space(mpi, kind, each, n);
    std::array<std::vector<int>, each> in, out;
    std::vector<MPI_Request> receives(each, MPI_REQUEST_NULL), sends(each, MPI_REQUEST_NULL);
    for (std::size_t i = 0; i < each; ++i) {
        in[i] = room(n + 1);
        out[i] = room(n);
        mpi.ok(MPI_Recv_init(in[i].data(), static_cast<int>(n + 1), MPI_INT, p.from, mpi.tag(static_cast<int>(i)),
                             mpi.comm, &receives[i]));
        mpi.ok(send_init(mpi, kind, out[i], p.to, mpi.tag(static_cast<int>(i)), &sends[i]));
    }
    auto const expect_inactive = [&](char const* when) {
        for (auto* requests : {&receives, &sends})
            for (auto& request : *requests) {
                int flag = 0;
                auto status = poisoned_status();
                auto const before = request;
                mpi.ok(MPI_Test(&request, &flag, &status));
                mpi.check(logical(flag) && request == before, finding::request,
                          fmt::format("{}: a request must be inactive, MPI_Test gives flag {}", when, flag));
                mpi.expect(status).empty();
            }
    };
    expect_inactive("created");
    // Creating a request does not communicate.
    for (std::size_t i = 0; i < each; ++i) {
        int there = -7;
        mpi.ok(MPI_Iprobe(p.from, mpi.tag(static_cast<int>(i)), mpi.comm, &there, MPI_STATUS_IGNORE));
        mpi.check(there == 0, finding::leftover, "a message came although its request was not started");
    }
    await_receiver(mpi, p); // nobody starts before its receiver has looked
    for (int round = 0; round < 10; ++round) {
        for (std::size_t i = 0; i < each; ++i) {
            auto const serial = round * 10 + static_cast<int>(i);
            auto const data = message(mpi.key_to(p.to, serial), n);
            std::copy(data.begin(), data.end(), out[i].begin()); // where the request knows it
            std::fill(in[i].begin(), in[i].end(), poison_int);
        }
        std::array<MPI_Status, each> statuses;
        statuses.fill(poisoned_status());
        start(mpi, mpi.at(starting), receives);
        if (kind == mode_kind::ready) await_receiver(mpi, p);
        start(mpi, mpi.at(starting), sends);
        auto const handles = receives;
        mpi.ok(MPI_Waitall(each, receives.data(), statuses.data()));
        mpi.ok(MPI_Waitall(each, sends.data(), MPI_STATUSES_IGNORE));
        mpi.check(handles == receives, finding::request, "a persistent request must stay when it completes");
        if (handles != receives) return;
        for (std::size_t i = 0; i < each; ++i) {
            expect_status(mpi, statuses[i], p.from, mpi.tag(static_cast<int>(i)), n);
            expect_message(mpi, in[i], mpi.key_from(p.from, round * 10 + static_cast<int>(i)), n,
                           fmt::format("round {}, request {}", round, i));
        }
        // A buffer may still hold the messages of the round before only where it is not the user's.
        if (kind == mode_kind::buffered) {
            void* address = nullptr;
            int size = 0;
            mpi.ok(MPI_Buffer_detach(&address, &size));
            mpi.ok(MPI_Buffer_attach(address, size));
        }
    }
    expect_inactive("after ten rounds");
    for (auto* requests : {&receives, &sends})
        for (auto& request : *requests) {
            mpi.ok(MPI_Request_free(&request));
            mpi.check_null(request);
        }
}

// Persistent on one side only; requests of one list that are not all started.
ASSAY_TEST(p2p, persistent_mixed, requirements{"p2p.persistent.plain_partner", "p2p.startall.part"},
           over(axis_use{&kinds}, axis_use{&lengths}, communicators::few())) {
    auto const kind = mpi.at(kinds);
    auto const p = pair_of(mpi);
    if (p.idle) return;
    auto const n = mpi.at(lengths);
    auto const count = static_cast<int>(n);
    buffer_for_sends const space(mpi, kind, 1, n);
    auto first = message(mpi.key_to(p.to, 0), n), second = message(mpi.key_to(p.to, 1), n);
    std::array<std::vector<int>, 3> in{room(n), room(n), room(n)};
    MPI_Request send = MPI_REQUEST_NULL, plain = MPI_REQUEST_NULL;
    std::array<MPI_Request, 2> receives{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    std::array<MPI_Status, 2> statuses{poisoned_status(), poisoned_status()};
    mpi.ok(send_init(mpi, kind, first, p.to, mpi.tag(0), &send));
    mpi.ok(MPI_Recv_init(in[1].data(), count, MPI_INT, p.from, mpi.tag(1), mpi.comm, &receives[0]));
    mpi.ok(MPI_Recv_init(in[2].data(), count, MPI_INT, p.from, mpi.tag(1), mpi.comm, &receives[1])); // never started
    mpi.ok(MPI_Irecv(in[0].data(), count, MPI_INT, p.from, mpi.tag(0), mpi.comm, &plain));
    if (kind == mode_kind::ready) await_receiver(mpi, p);
    mpi.ok(MPI_Start(&send));
    mpi.ok(MPI_Startall(1, receives.data()));
    mpi.ok(MPI_Startall(0, receives.data()));
    MPI_Request other = MPI_REQUEST_NULL;
    mpi.ok(MPI_Isend(second.data(), count, MPI_INT, p.to, mpi.tag(1), mpi.comm, &other));
    mpi.ok(MPI_Wait(&plain, MPI_STATUS_IGNORE));
    mpi.ok(MPI_Waitall(2, receives.data(), statuses.data()));
    mpi.ok(MPI_Wait(&send, MPI_STATUS_IGNORE));
    mpi.ok(MPI_Wait(&other, MPI_STATUS_IGNORE));
    expect_status(mpi, statuses[0], p.from, mpi.tag(1), n);
    mpi.expect(statuses[1]).empty();
    expect_message(mpi, in[0], mpi.key_from(p.from, 0), n, "a persistent send, received by MPI_Irecv");
    expect_message(mpi, in[1], mpi.key_from(p.from, 1), n, "MPI_Isend, received by a persistent receive");
    mpi.check(in[2] == room(n), finding::data, "a receive that was not started changed its buffer");
    for (auto* request : {&send, &receives[0], &receives[1]}) mpi.ok(MPI_Request_free(request));
}

namespace {
enum class cancelled { irecv, recv_init, any_source };
axis<cancelled> const cancels("request", {{{"irecv", "MPI_Irecv"}, cancelled::irecv},
                                          {{"recv_init", "MPI_Recv_init"}, cancelled::recv_init},
                                          {{"any_source", "MPI_Irecv from MPI_ANY_SOURCE"}, cancelled::any_source}});

// Completes one request; returns MPI_Test_cancelled of its status.
int end(test_run& mpi, bool persistent, MPI_Request& request, MPI_Status& status) {
    int cancelled = 0;
    status = complete(mpi, mpi.at(completions()), {&request, 1}, {.persistent = {persistent}})[0];
    mpi.ok(MPI_Test_cancelled(&status, &cancelled));
    return cancelled;
}
} // namespace

// A receive is cancelled; the message that comes afterwards belongs to the next receive.
ASSAY_TEST(p2p, cancel_then_receive,
           requirements{"p2p.cancel.not_matched_later", "p2p.cancel.persistent", "p2p.cancel.receive",
                        "p2p.cancel.wait_local"},
           over(axis_use{&cancels}, axis_use{&completions()}, axis_use{&lengths}, communicators::few()),
           thread_safe{}) {
    auto const p = pair_of(mpi);
    if (p.idle) return;
    auto const n = mpi.at(lengths);
    auto const count = static_cast<int>(n);
    auto const what = mpi.at(cancels);
    auto first = room(n), second = room(n), out = message(mpi.key_to(p.to), n);
    MPI_Request request = MPI_REQUEST_NULL, send = MPI_REQUEST_NULL;
    int const source = what == cancelled::any_source ? MPI_ANY_SOURCE : p.from;
    if (what == cancelled::recv_init) {
        mpi.ok(MPI_Recv_init(first.data(), count, MPI_INT, source, mpi.tag(), mpi.comm, &request));
        mpi.ok(MPI_Start(&request));
    } else {
        mpi.ok(MPI_Irecv(first.data(), count, MPI_INT, source, mpi.tag(), mpi.comm, &request));
    }
    auto status = poisoned_status();
    mpi.ok(MPI_Cancel(&request));
    int const flag = end(mpi, what == cancelled::recv_init, request, status);
    mpi.check(logical(flag), finding::cancelled,
              fmt::format("a receive that nothing can match must be cancelled; MPI_Test_cancelled gives {}", flag));
    await_receiver(mpi, p); // nobody sends before the receive was cancelled
    mpi.ok(MPI_Isend(out.data(), count, MPI_INT, p.to, mpi.tag(), mpi.comm, &send));
    status = poisoned_status();
    if (what == cancelled::recv_init) {
        if (request != MPI_REQUEST_NULL) {
            mpi.ok(MPI_Start(&request));
            mpi.ok(MPI_Wait(&request, &status));
            mpi.ok(MPI_Request_free(&request));
        } else {
            mpi.ok(MPI_Recv(first.data(), count, MPI_INT, p.from, mpi.tag(), mpi.comm, &status));
        }
        std::swap(first, second); // it was the same buffer
    } else {
        mpi.ok(MPI_Recv(second.data(), count, MPI_INT, p.from, mpi.tag(), mpi.comm, &status));
    }
    expect_status(mpi, status, p.from, mpi.tag(), n);
    expect_message(mpi, second, mpi.key_from(p.from), n, "received after the cancelled receive");
    mpi.check(first == room(n), finding::data, "a cancelled receive changed its buffer");
    mpi.ok(MPI_Wait(&send, MPI_STATUS_IGNORE));
}

// A receive whose message is on its way is cancelled: either it gets the message, or the next receive does.
ASSAY_TEST(p2p, cancel_or_receive, requirements{"p2p.cancel.either"},
           over(only(cancels, [](cancelled c) { return c != cancelled::any_source; }), axis_use{&completions()},
                only(lengths, [](std::size_t n) { return n > 0; }), communicators::few()),
           thread_safe{}) {
    auto const p = pair_of(mpi);
    if (p.idle) return;
    auto const n = mpi.at(lengths);
    auto const count = static_cast<int>(n);
    bool const persistent = mpi.at(cancels) == cancelled::recv_init;
    auto in = room(n), next = room(n), out = message(mpi.key_to(p.to), n);
    MPI_Request request = MPI_REQUEST_NULL, send = MPI_REQUEST_NULL;
    if (persistent) {
        mpi.ok(MPI_Recv_init(in.data(), count, MPI_INT, p.from, mpi.tag(), mpi.comm, &request));
        mpi.ok(MPI_Start(&request));
    } else {
        mpi.ok(MPI_Irecv(in.data(), count, MPI_INT, p.from, mpi.tag(), mpi.comm, &request));
    }
    mpi.ok(MPI_Isend(out.data(), count, MPI_INT, p.to, mpi.tag(), mpi.comm, &send));
    await_sender(mpi, p); // sent before the receive is cancelled
    auto status = poisoned_status();
    mpi.ok(MPI_Cancel(&request));
    int const flag = end(mpi, persistent, request, status);
    if (flag == 0) {
        expect_status(mpi, status, p.from, mpi.tag(), n);
        expect_message(mpi, in, mpi.key_from(p.from), n, "received in spite of MPI_Cancel");
    } else if (mpi.check(in == room(n), finding::cancelled,
                         "a receive says that it was cancelled, but its buffer was changed")) {
        mpi.ok(MPI_Recv(next.data(), count, MPI_INT, p.from, mpi.tag(), mpi.comm, &status));
        expect_status(mpi, status, p.from, mpi.tag(), n);
        expect_message(mpi, next, mpi.key_from(p.from), n, "received after the cancelled receive");
    }
    mpi.ok(MPI_Wait(&send, MPI_STATUS_IGNORE));
    if (persistent && request != MPI_REQUEST_NULL) mpi.ok(MPI_Request_free(&request));
}

// What a status says by its procedures is what its fields say.
ASSAY_TEST(p2p, status_procedures,
           requirements{"p2p.status.get_source", "p2p.status.get_tag", "p2p.status.get_error", "status.set_fields"},
           over(communicators::few()),
           needs_procedures({"MPI_Status_get_source", "MPI_Status_get_tag", "MPI_Status_get_error",
                             "MPI_Status_set_source", "MPI_Status_set_tag", "MPI_Status_set_error"}),
           thread_safe{}) {
    auto const p = pair_of(mpi);
    if (p.idle) return;
    auto out = message(mpi.key_to(p.to), 3), in = room(3);
    MPI_Request send = MPI_REQUEST_NULL;
    auto status = poisoned_status();
    mpi.ok(MPI_Isend(out.data(), 3, MPI_INT, p.to, mpi.tag(), mpi.comm, &send));
    mpi.ok(MPI_Recv(in.data(), 3, MPI_INT, p.from, mpi.tag(), mpi.comm, &status));
    mpi.ok(MPI_Wait(&send, MPI_STATUS_IGNORE));
    auto const expect_fields = [&](int source, int tag, int error, char const* when) {
        int got_source = -7, got_tag = -7, got_error = -7;
        mpi.ok(MPI_Status_get_source(&status, &got_source));
        mpi.ok(MPI_Status_get_tag(&status, &got_tag));
        mpi.ok(MPI_Status_get_error(&status, &got_error));
        mpi.check(got_source == source, finding::source,
                  fmt::format("{}: MPI_Status_get_source gives {}, expected {}", when, got_source, source));
        mpi.check(got_tag == tag, finding::tag,
                  fmt::format("{}: MPI_Status_get_tag gives {}, expected {}", when, got_tag, tag));
        mpi.check(got_error == error, finding::error,
                  fmt::format("{}: MPI_Status_get_error gives {}, expected {}", when, got_error, error));
        mpi.check(status.MPI_SOURCE == source && status.MPI_TAG == tag && status.MPI_ERROR == error, finding::value,
                  fmt::format("{}: the fields are {}, {} and {}, expected {}, {} and {}", when, status.MPI_SOURCE,
                              status.MPI_TAG, status.MPI_ERROR, source, tag, error));
    };
    expect_fields(p.from, mpi.tag(), status.MPI_ERROR, "received");
    status.MPI_SOURCE = 11;
    status.MPI_TAG = 12;
    status.MPI_ERROR = MPI_ERR_OTHER;
    expect_fields(11, 12, MPI_ERR_OTHER, "fields written by hand");
    mpi.ok(MPI_Status_set_source(&status, 21));
    mpi.ok(MPI_Status_set_tag(&status, 22));
    mpi.ok(MPI_Status_set_error(&status, MPI_ERR_TRUNCATE));
    expect_fields(21, 22, MPI_ERR_TRUNCATE, "set by procedures");
    // The others stay as they were.
    mpi.expect(status).count(3, MPI_INT, sizeof(int)).not_cancelled();
}
