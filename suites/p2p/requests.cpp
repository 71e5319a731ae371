// What the completing and the asking procedures say of lists of null, inactive, pending and complete requests (MPI-5.0
// sections 3.7.3, 3.7.5 and 3.7.6).
#include "suites/common/completion.hpp"

#include "framework/check/logical.hpp"
#include "framework/process/erroneous.hpp"
#include "suites/p2p/exchange.hpp"
#include "suites/p2p/pair.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <list>
#include <mutex>

using namespace assay;
using namespace assay::p2p;

namespace {

axis<completion_call> const& calls = completion_calls();
// Those that look at a list have tests of their own: MPI has them since version 4.1.
auto const looks_at_lists = only(calls, [](completion_call const& c) { return c.looks_at_list(); });
auto const other_calls = only(calls, [](completion_call const& c) { return !c.looks_at_list(); });

enum class list { inactive, mixed, single };
axis<list> const lists("list", {{{"inactive", "three requests that were never started"}, list::inactive},
                                {{"mixed", "null and inactive requests"}, list::mixed}});
enum class kind { nonblocking, persistent };
axis<kind> const kinds("request", {{{"irecv", "nonblocking"}, kind::nonblocking},
                                   {{"recv_init", "persistent"}, kind::persistent}});

// Receives of the messages with tags 0 and 1, active or (persistent) started.
MPI_Request receive(test_run& mpi, kind k, std::vector<int>& into, int from, int tag) {
    MPI_Request request = MPI_REQUEST_NULL;
    auto const n = static_cast<int>(into.size());
    if (k == kind::nonblocking) {
        mpi.ok(MPI_Irecv(into.data(), n, MPI_INT, from, tag, mpi.comm, &request));
    } else {
        mpi.ok(MPI_Recv_init(into.data(), n, MPI_INT, from, tag, mpi.comm, &request));
        mpi.ok(MPI_Start(&request));
    }
    return request;
}

void expect_done(test_run& mpi, kind k, MPI_Request& request) {
    if (k == kind::nonblocking) {
        mpi.check_null(request);
        return;
    }
    if (!mpi.check(request != MPI_REQUEST_NULL, finding::request, "a persistent request must stay when it completes"))
        return;
    int flag = 0;
    auto status = poisoned_status();
    mpi.ok(MPI_Test(&request, &flag, &status));
    mpi.check(logical(flag), finding::request,
              "a persistent request that completed must be inactive: MPI_Test gives flag false");
    mpi.expect(status).empty();
    mpi.ok(MPI_Request_free(&request));
    mpi.check_null(request);
}

constexpr std::size_t ints = 5;

} // namespace

static void nothing_active(test_run& mpi) {
    auto const& c = mpi.at(calls);
    auto const p = pair_of(mpi);
    if (p.idle) return;
    auto in = room(ints), out = message(mpi.key_to(p.to), ints);
    // Both ends are persistent and never started before the question.
    std::vector<MPI_Request> requests(3, MPI_REQUEST_NULL);
    MPI_Request &receiving = requests[mpi.at(lists) == list::mixed ? 1 : 0], sending = MPI_REQUEST_NULL;
    mpi.ok(MPI_Recv_init(in.data(), ints, MPI_INT, p.from, mpi.tag(), mpi.comm, &receiving));
    mpi.ok(MPI_Send_init(out.data(), ints, MPI_INT, p.to, mpi.tag(), mpi.comm, &sending));
    if (mpi.at(lists) == list::inactive)
        for (std::size_t i : {1u, 2u})
            mpi.ok(MPI_Recv_init(in.data(), ints, MPI_INT, p.from, mpi.tag(), mpi.comm, &requests[i]));
    auto const before = c.single() ? std::vector<MPI_Request>{receiving} : requests;
    auto asked = before;
    expect_nothing_active(mpi, ask(c, asked));
    mpi.check(asked == before, finding::request, "the handle of an inactive request was changed");
    // It did no harm: the requests can be started.
    std::array<MPI_Request, 2> both{receiving, sending};
    std::array<MPI_Status, 2> statuses{poisoned_status(), poisoned_status()};
    mpi.ok(MPI_Startall(2, both.data()));
    mpi.ok(MPI_Waitall(2, both.data(), statuses.data()));
    expect_status(mpi, statuses[0], p.from, mpi.tag(), ints);
    expect_message(mpi, in, mpi.key_from(p.from), ints, "first start after the question");
    mpi.ok(MPI_Request_free(&sending));
    for (auto& request : requests)
        if (request != MPI_REQUEST_NULL) mpi.ok(MPI_Request_free(&request));
}

ASSAY_TEST(p2p, requests_inactive,
           requirements{"p2p.inactive.empty_status", "p2p.inactive.undefined_index", "p2p.inactive.stays"},
           over(other_calls, axis_use{&lists}, communicators::few()), thread_safe{}) {
    nothing_active(mpi);
}
ASSAY_TEST(p2p, get_status_inactive, requirements{"p2p.get_status.inactive"},
           over(looks_at_lists, axis_use{&lists}, communicators::few()), thread_safe{}) {
    nothing_active(mpi);
}

static void mixed_list(test_run& mpi) {
    auto const& c = mpi.at(calls);
    auto const k = mpi.at(kinds);
    auto const p = pair_of(mpi);
    if (p.idle) return;
    std::array<std::vector<int>, 2> in{room(ints), room(ints + 1)};
    std::array<std::vector<int>, 2> out{message(mpi.key_to(p.to, 0), ints), message(mpi.key_to(p.to, 1), ints + 1)};
    auto unused = room(1);
    std::array<MPI_Request, 2> sends{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    std::vector<MPI_Request> requests(5, MPI_REQUEST_NULL);
    mpi.ok(MPI_Recv_init(unused.data(), 1, MPI_INT, p.from, mpi.tag(2), mpi.comm, &requests[1]));
    requests[2] = receive(mpi, k, in[0], p.from, mpi.tag(0));
    requests[4] = receive(mpi, k, in[1], p.from, mpi.tag(1));
    for (int i : {0, 1})
        mpi.ok(MPI_Isend(out[static_cast<std::size_t>(i)].data(), static_cast<int>(ints) + i, MPI_INT, p.to, mpi.tag(i),
                         mpi.comm, &sends[static_cast<std::size_t>(i)]));
    MPI_Request const inactive = requests[1];
    auto const expect_received = [&](int index, MPI_Status const& status) {
        if (!mpi.check(index == 2 || index == 4, finding::request,
                       fmt::format("request {} is named, expected 2 or 4: the others are null or inactive", index)))
            return;
        int const i = index == 2 ? 0 : 1;
        expect_status(mpi, status, p.from, mpi.tag(i), ints + static_cast<std::size_t>(i));
        expect_message(mpi, in[static_cast<std::size_t>(i)], mpi.key_from(p.from, i),
                       ints + static_cast<std::size_t>(i), fmt::format("request {}", index));
    };
    auto const before = requests;
    if (c.single()) {
        for (int index : {2, 4}) {
            std::vector<MPI_Request> one{requests[static_cast<std::size_t>(index)]};
            answer a(c);
            // A request that was only looked at says the same again, and is then completed like any other.
            for (int times = !c.completes ? 2 : 1; times > 0; --times) {
                until([&] { return (a = ask(c, one)).complete() || a.code != MPI_SUCCESS; });
                mpi.ok(a.code);
                expect_received(index, a.statuses[0]);
            }
            if (!c.completes) {
                mpi.check(one[0] == before[static_cast<std::size_t>(index)], finding::request,
                          "MPI_Request_get_status changed the handle");
                auto status = poisoned_status();
                mpi.ok(MPI_Wait(one.data(), &status));
                expect_received(index, status);
            }
            requests[static_cast<std::size_t>(index)] = one[0];
        }
    } else if (c.all()) {
        answer a(c);
        for (int times = !c.completes ? 2 : 1; times > 0; --times) {
            until([&] { return (a = ask(c, requests)).complete() || a.code != MPI_SUCCESS; });
            mpi.ok(a.code);
            for (int index = 0; index < 5; ++index) {
                auto const& status = a.statuses[static_cast<std::size_t>(index)];
                if (index == 2 || index == 4) expect_received(index, status);
                else mpi.expect(status).empty();
            }
        }
    } else if (c.any()) {
        std::vector<int> named;
        for (int times = 0; times < 2; ++times) {
            answer a(c);
            until([&] { return (a = ask(c, requests)).complete() || a.code != MPI_SUCCESS; });
            mpi.ok(a.code);
            expect_received(a.index, a.statuses[0]);
            named.push_back(a.index);
        }
        if (c.completes) {
            mpi.check(named[0] != named[1], finding::request, fmt::format("request {} is named twice", named[0]));
            expect_nothing_active(mpi, ask(c, requests));
        }
    } else {
        std::vector<int> named;
        // Those for some that only look name what is complete again each time. Without progress meanwhile this hangs.
        until([&] {
            auto const a = ask(c, requests);
            if (!c.completes) named.clear();
            if (!mpi.ok(a.code)) return true;
            if (!mpi.check(a.outcount >= (c.waits ? 1 : 0) && a.outcount <= 2, finding::request,
                           fmt::format("outcount is {} with two active requests", a.outcount)))
                return true;
            for (std::size_t i = 0; i < static_cast<std::size_t>(a.outcount); ++i) {
                expect_received(a.indices[i], a.statuses[i]);
                named.push_back(a.indices[i]);
            }
            return named.size() >= 2;
        });
        std::sort(named.begin(), named.end());
        mpi.check(named == std::vector<int>{2, 4}, finding::request, "each complete request must be named once");
        if (c.completes) expect_nothing_active(mpi, ask(c, requests));
    }
    if (!c.completes && !c.single()) {
        mpi.check(requests == before, finding::request, "a call that only looks changed a handle");
        std::array<MPI_Status, 5> statuses;
        statuses.fill(poisoned_status());
        mpi.ok(MPI_Waitall(5, requests.data(), statuses.data()));
        for (int index : {2, 4}) expect_received(index, statuses[static_cast<std::size_t>(index)]);
    }
    mpi.check(requests[1] == inactive, finding::request, "the handle of the inactive request was changed");
    for (std::size_t i : {0u, 3u})
        mpi.check(requests[i] == MPI_REQUEST_NULL, finding::request, "a null handle was changed");
    for (std::size_t i : {2u, 4u}) expect_done(mpi, k, requests[i]);
    mpi.ok(MPI_Request_free(&requests[1]));
    mpi.ok(MPI_Waitall(2, sends.data(), MPI_STATUSES_IGNORE));
    for (auto const& v : unused) mpi.check(v == poison_int, finding::data, "an inactive receive changed its buffer");
}

ASSAY_TEST(p2p, requests_mixed,
           requirements{"p2p.completion.null_in_list", "p2p.completion.any_one", "p2p.completion.all_statuses",
                        "p2p.get_status.keeps"},
           over(other_calls, axis_use{&kinds}, communicators::few()),
           note{"a list of a null, an inactive, an active, a null and another active request"}, thread_safe{}) {
    mixed_list(mpi);
}
ASSAY_TEST(p2p, get_status_mixed, requirements{"p2p.get_status.any", "p2p.get_status.all", "p2p.get_status.some"},
           over(looks_at_lists, axis_use{&kinds}, communicators::few()),
           note{"a list of a null, an inactive, an active, a null and another active request"}, thread_safe{}) {
    mixed_list(mpi);
}

static void pending_list(test_run& mpi) {
    auto const& c = mpi.at(calls);
    auto const k = mpi.at(kinds);
    auto const p = pair_of(mpi);
    if (p.idle) return;
    std::array<std::vector<int>, 2> in{room(ints), room(ints)};
    std::array<std::vector<int>, 2> out{message(mpi.key_to(p.to, 0), ints), message(mpi.key_to(p.to, 1), ints)};
    std::array<MPI_Request, 2> sends{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    std::vector<MPI_Request> requests{receive(mpi, k, in[0], p.from, mpi.tag(0)),
                                      receive(mpi, k, in[1], p.from, mpi.tag(1))};
    auto const before = requests;
    auto const send = [&](int i) {
        mpi.ok(MPI_Isend(out[static_cast<std::size_t>(i)].data(), ints, MPI_INT, p.to, mpi.tag(i), mpi.comm,
                         &sends[static_cast<std::size_t>(i)]));
    };
    auto const expect_pending = [&](std::vector<MPI_Request>& asked, char const* when) {
        auto const a = ask(c, asked);
        mpi.ok(a.code);
        if (!c.some())
            mpi.check(a.flag == 0, finding::request, fmt::format("{}: flag is {}, expected false", when, a.flag));
        if (c.any())
            mpi.check(a.index == MPI_UNDEFINED, finding::request,
                      fmt::format("{}: index is {}, expected MPI_UNDEFINED", when, a.index));
        if (c.some())
            mpi.check(a.outcount == 0, finding::request,
                      fmt::format("{}: outcount is {}, expected 0", when, a.outcount));
        // A handle that became null cannot be asked again.
        return mpi.check(asked.size() == 1 || asked == before, finding::request,
                         fmt::format("{}: a request was changed", when));
    };
    if (!c.waits)
        for (int poll = 0; poll < polls; ++poll) {
            bool fine = true;
            if (c.single()) {
                for (auto& request : requests) {
                    std::vector<MPI_Request> one{request};
                    fine = expect_pending(one, "nothing was sent") && fine;
                    fine = mpi.check(one[0] == request, finding::request, "a pending request was changed") && fine;
                }
            } else {
                fine = expect_pending(requests, "nothing was sent");
            }
            if (!fine) {
                requests = before; // whatever was said: they are pending
                break;
            }
        }
    await_receiver(mpi, p); // nobody sends before the receiver asked
    send(1);
    // The second one completes. Calls for one and for some name it, those for all do not return it yet.
    bool second_done = false;
    auto const expect_second = [&](MPI_Status const& status) {
        expect_status(mpi, status, p.from, mpi.tag(1), ints);
        expect_message(mpi, in[1], mpi.key_from(p.from, 1), ints, "the second receive");
        second_done = c.completes;
    };
    if (c.all()) {
        for (int poll = 0; !c.waits && poll < 20 * polls; ++poll, let_others_run())
            if (!expect_pending(requests, "the first message was not sent")) break;
    } else {
        std::vector<MPI_Request> asked = c.single() ? std::vector{requests[1]} : requests;
        answer a(c);
        until([&] {
            a = ask(c, asked);
            return !mpi.ok(a.code) || a.complete();
        });
        if (!c.single()) {
            int const named = c.any() ? a.index : a.indices[0];
            if (!c.any())
                mpi.check(a.outcount == 1, finding::request,
                          fmt::format("outcount is {}, expected 1: one of two requests is complete", a.outcount));
            mpi.check(named == 1, finding::request,
                      fmt::format("request {} is named, expected 1: the other one is pending", named));
            requests = asked;
        } else {
            requests[1] = asked[0];
        }
        expect_second(a.statuses[0]);
    }
    for (int v : in[0])
        if (!mpi.check(v == poison_int, finding::data, "a receive whose message was not sent changed its buffer"))
            break;
    if (second_done && k == kind::nonblocking) mpi.check_null(requests[1]);
    await_receiver(mpi, p);
    send(0);
    std::array<MPI_Status, 2> statuses{poisoned_status(), poisoned_status()};
    mpi.ok(MPI_Waitall(2, requests.data(), statuses.data()));
    expect_status(mpi, statuses[0], p.from, mpi.tag(0), ints);
    if (second_done) mpi.expect(statuses[1]).empty();
    else expect_second(statuses[1]);
    for (int i : {0, 1})
        expect_message(mpi, in[static_cast<std::size_t>(i)], mpi.key_from(p.from, i), ints,
                       fmt::format("receive {}", i));
    for (auto& request : requests) expect_done(mpi, k, request);
    mpi.ok(MPI_Waitall(2, sends.data(), MPI_STATUSES_IGNORE));
}

ASSAY_TEST(p2p, requests_pending,
           requirements{"p2p.completion.pending", "p2p.completion.testall_none", "p2p.completion.one_of_two",
                        "p2p.get_status.pending"},
           over(other_calls, axis_use{&kinds}, communicators::few()),
           note{"two receives: of neither, then of the second one the message was sent"}, thread_safe{}) {
    pending_list(mpi);
}
ASSAY_TEST(p2p, get_status_pending, requirements{"p2p.get_status.list_pending"},
           over(looks_at_lists, axis_use{&kinds}, communicators::few()),
           note{"two receives: of neither, then of the second one the message was sent"}, thread_safe{}) {
    pending_list(mpi);
}

static void ignored_status(test_run& mpi) {
    auto const k = mpi.at(kinds);
    auto const p = pair_of(mpi);
    if (p.idle) return;
    auto in = room(ints), out = message(mpi.key_to(p.to), ints);
    MPI_Request send = MPI_REQUEST_NULL;
    std::vector<MPI_Request> requests{receive(mpi, k, in, p.from, mpi.tag())};
    mpi.ok(MPI_Isend(out.data(), ints, MPI_INT, p.to, mpi.tag(), mpi.comm, &send));
    complete(mpi, mpi.at(calls), requests, {.persistent = {k == kind::persistent}, .ignore = true});
    expect_message(mpi, in, mpi.key_from(p.from), ints, "with an ignored status");
    expect_done(mpi, k, requests[0]);
    mpi.ok(MPI_Wait(&send, MPI_STATUS_IGNORE));
}

ASSAY_TEST(p2p, requests_ignored_status, requirements{"p2p.status.ignore", "p2p.statuses.ignore"},
           over(other_calls, axis_use{&kinds}, communicators::few()), thread_safe{}) {
    ignored_status(mpi);
}
ASSAY_TEST(p2p, get_status_ignored_status, requirements{"p2p.get_status.ignore"},
           over(looks_at_lists, axis_use{&kinds}, communicators::few()), thread_safe{}) {
    ignored_status(mpi);
}

// Of three receives the second is too small: that is said once, by the call that completes it, and the others are as ever.
ASSAY_TEST(p2p, requests_error,
           requirements{"p2p.completion.err_in_status", "p2p.completion.single_error", "p2p.recv.truncated",
                        "p2p.recv.truncated_memory", "p2p.recv.truncated_class", "p2p.recv.truncated_sender",
                        "errors.raised.goes_on"},
           over(calls_that_complete(), axis_use{&kinds}, communicators::few()),
           note{"of three receives the second one is too small"}, thread_safe{}) {
    auto const& c = mpi.at(calls);
    auto const k = mpi.at(kinds);
    auto const p = pair_of(mpi);
    if (p.idle) return;
    std::array<std::vector<int>, 3> in{room(ints), room(ints), room(ints)}, out;
    std::vector<MPI_Request> requests(3, MPI_REQUEST_NULL), sends(3, MPI_REQUEST_NULL);
    erroneous_from_here();
    for (int i = 0; i < 3; ++i) {
        auto const u = static_cast<std::size_t>(i);
        out[u] = message(mpi.key_to(p.to, i), ints);
        // Only three of the five ints may be written in the second.
        int const count = i == 1 ? 3 : static_cast<int>(ints);
        if (k == kind::nonblocking) {
            mpi.ok(MPI_Irecv(in[u].data(), count, MPI_INT, p.from, mpi.tag(i), mpi.comm, &requests[u]));
        } else {
            mpi.ok(MPI_Recv_init(in[u].data(), count, MPI_INT, p.from, mpi.tag(i), mpi.comm, &requests[u]));
            mpi.ok(MPI_Start(&requests[u]));
        }
    }
    auto const made = requests;
    await_receiver(mpi, p);
    for (int i = 0; i < 3; ++i)
        mpi.ok(MPI_Isend(out[static_cast<std::size_t>(i)].data(), ints, MPI_INT, p.to, mpi.tag(i), mpi.comm,
                         &sends[static_cast<std::size_t>(i)]));
    for (std::size_t i = 0; i < 3; ++i) {
        auto const of_send = mpi.resting_on(i == 1 ? requirement("p2p.recv.truncated_sender")
                                                   : requirement("p2p.completion.single_error"));
        mpi.ok(MPI_Wait(&sends[i], MPI_STATUS_IGNORE));
    }
    std::array<bool, 3> done{}, fine{};
    bool told = false;
    auto const report = [&](std::size_t i, int error) {
        done[i] = true;
        fine[i] = error == MPI_SUCCESS;
        if (i != 1) {
            mpi.check(fine[i], finding::error,
                      fmt::format("receive {} fits, but its error is {}", i, error_text(error)));
            return;
        }
        told = error != MPI_SUCCESS;
        if (told)
            mpi.check("p2p.recv.truncated_class", class_of(error) == MPI_ERR_TRUNCATE, finding::error,
                      fmt::format("a receive that is too small ends with \"{}\", expected MPI_ERR_TRUNCATE",
                                  error_text(error)));
    };
    while (!(done[0] && done[1] && done[2])) {
        let_others_run();
        if (c.single()) {
            for (std::size_t i = 0; i < 3; ++i) {
                if (done[i]) continue;
                std::vector<MPI_Request> one{requests[i]};
                auto const a = ask(c, one);
                requests[i] = one[0];
                if (logical(a.flag) || a.code != MPI_SUCCESS) report(i, a.code);
            }
            continue;
        }
        auto const a = ask(c, requests);
        if (c.any()) {
            if (a.code == MPI_SUCCESS && a.flag == 0) continue;
            // With an error the index says which request it is about.
            if (a.index >= 0 && a.index < 3) report(static_cast<std::size_t>(a.index), a.code);
            else if (a.code != MPI_SUCCESS) report(1, a.code);
            if (a.code != MPI_SUCCESS) requests[1] = MPI_REQUEST_NULL;
            if (a.index == MPI_UNDEFINED) break;
            continue;
        }
        bool const in_status = a.code != MPI_SUCCESS;
        if (in_status &&
            !mpi.check(class_of(a.code) == MPI_ERR_IN_STATUS, finding::error,
                       fmt::format("the call returned \"{}\", expected MPI_ERR_IN_STATUS", error_text(a.code)))) {
            told = true; // if in other words
            break;
        }
        if (c.all()) {
            if (!in_status && a.flag == 0) continue;
            for (std::size_t i = 0; i < 3; ++i) {
                int const error = in_status ? a.statuses[i].MPI_ERROR : MPI_SUCCESS;
                if (class_of(error) != MPI_ERR_PENDING) report(i, error);
            }
            if (in_status) break;
        } else {
            if (a.outcount == MPI_UNDEFINED) break;
            for (int n = 0; n < a.outcount && n < 3; ++n) {
                auto const u = static_cast<std::size_t>(n);
                if (a.indices[u] >= 0 && a.indices[u] < 3)
                    report(static_cast<std::size_t>(a.indices[u]), in_status ? a.statuses[u].MPI_ERROR : MPI_SUCCESS);
            }
            if (in_status && done[1]) requests[1] = MPI_REQUEST_NULL;
        }
    }
    mpi.check("p2p.recv.truncated", told, finding::error, "no call says that the second receive is too small");
    for (std::size_t i = 3; i < in[1].size(); ++i)
        mpi.check("p2p.recv.truncated_memory", in[1][i] == poison_int, finding::guard,
                  "a receive that was too small wrote after its buffer");
    // Whatever was said, the others come to their end.
    for (std::size_t i : {0u, 2u}) {
        if (requests[i] != MPI_REQUEST_NULL) MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
        mpi.check(fine[i] ? requirement("p2p.completion.err_in_status") : requirement("errors.raised.goes_on"),
                  in[i] == message(mpi.key_from(p.from, static_cast<int>(i)), ints), finding::data,
                  fmt::format("receive {} did not get its message", i));
    }
    if (k == kind::persistent)
        for (auto request : made) {
            auto const afterwards = mpi.resting_on("errors.raised.goes_on");
            MPI_Wait(&request, MPI_STATUS_IGNORE); // returns at once: it is inactive
            mpi.ok(MPI_Request_free(&request));
        }
}

namespace {
enum class freed { isend, issend, ibsend, send_init, irecv_cancelled, unused };
axis<freed> const frees("request", {{{"isend", "an active MPI_Isend"}, freed::isend},
                                    {{"issend", "an active MPI_Issend"}, freed::issend},
                                    {{"ibsend", "an active MPI_Ibsend"}, freed::ibsend},
                                    {{"send_init", "a persistent send that was started"}, freed::send_init},
                                    {{"irecv_cancelled", "a receive that was cancelled"}, freed::irecv_cancelled},
                                    {{"unused", "a persistent send that was never started"}, freed::unused}});
axis<std::size_t> const lengths("ints", {{{"5", "a small message"}, 5}, {{"100000", "a large one"}, 100000}});
} // namespace

ASSAY_TEST(p2p, request_free,
           requirements{"p2p.request_free.null", "p2p.request_free.active_send", "p2p.request_free.inactive",
                        "p2p.cancel.free"},
           over(axis_use{&frees}, axis_use{&lengths}, communicators::few()), thread_safe{}, uses_attached_buffer{}) {
    auto const p = pair_of(mpi);
    if (p.idle) return;
    auto const n = mpi.at(lengths);
    auto const count = static_cast<int>(n);
    auto const how = mpi.at(frees);
    // Nobody can know when a receive that was freed is over: its buffer is never given back (section 3.7.3).
    static std::mutex mutex;
    static auto& kept = *new std::list<std::vector<int>>;
    auto in = room(n), passing = room(n);
    auto& unused = [&]() -> std::vector<int>& {
        if (how != freed::irecv_cancelled) return passing;
        std::lock_guard const lock(mutex);
        return kept.emplace_back(room(n));
    }();
    auto out = message(mpi.key_to(p.to), n);
    MPI_Request request = MPI_REQUEST_NULL;
    std::vector<char> attached;
    switch (how) {
    case freed::isend:
    case freed::irecv_cancelled: break;
    case freed::issend: mpi.ok(MPI_Issend(out.data(), count, MPI_INT, p.to, mpi.tag(), mpi.comm, &request)); break;
    case freed::ibsend: {
        int packed = 0;
        mpi.ok(MPI_Pack_size(count, MPI_INT, mpi.comm, &packed));
        attached.resize(static_cast<std::size_t>(packed) + MPI_BSEND_OVERHEAD);
        mpi.ok(MPI_Buffer_attach(attached.data(), static_cast<int>(attached.size())));
        mpi.ok(MPI_Ibsend(out.data(), count, MPI_INT, p.to, mpi.tag(), mpi.comm, &request));
        break;
    }
    case freed::send_init:
        mpi.ok(MPI_Send_init(out.data(), count, MPI_INT, p.to, mpi.tag(), mpi.comm, &request));
        mpi.ok(MPI_Start(&request));
        break;
    case freed::unused:
        mpi.ok(MPI_Send_init(unused.data(), count, MPI_INT, p.to, mpi.tag(1), mpi.comm, &request));
        break;
    }
    if (how == freed::irecv_cancelled) {
        mpi.ok(MPI_Irecv(unused.data(), count, MPI_INT, p.from, mpi.tag(1), mpi.comm, &request));
        mpi.ok(MPI_Cancel(&request));
    }
    if (how == freed::isend) mpi.ok(MPI_Isend(out.data(), count, MPI_INT, p.to, mpi.tag(), mpi.comm, &request));
    mpi.ok(MPI_Request_free(&request));
    mpi.check_null(request);
    if (how == freed::unused || how == freed::irecv_cancelled)
        mpi.ok(MPI_Isend(out.data(), count, MPI_INT, p.to, mpi.tag(), mpi.comm, &request));
    auto status = poisoned_status();
    mpi.ok(MPI_Recv(in.data(), count, MPI_INT, p.from, mpi.tag(), mpi.comm, &status));
    expect_status(mpi, status, p.from, mpi.tag(), n);
    expect_message(mpi, in, mpi.key_from(p.from), n, "of the request that was freed");
    if (request != MPI_REQUEST_NULL) mpi.ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
    await_receiver(mpi, p); // only now the send buffer may go
    if (how == freed::ibsend) {
        void* address = nullptr;
        int size = -7;
        mpi.ok(MPI_Buffer_detach(&address, &size));
    }
    mpi.check(out == message(mpi.key_to(p.to), n), finding::data, "the send changed its buffer");
    mpi.check(unused == room(n), finding::data, "a request that was freed unused changed its buffer");
}

ASSAY_TEST(p2p, requests_many,
           requirements{"p2p.nonblocking.many_pending", "p2p.completion.any_one", "p2p.completion.all_statuses",
                        "p2p.send.data"},
           over(only(calls, [](completion_call const& c) { return c.completes && (c.all() || c.some()); }),
                communicators::few()),
           note{"thousands of receives and sends at once, or as many as the library has resources for"},
           thread_safe{}) {
    auto const& c = mpi.at(calls);
    auto const p = pair_of(mpi);
    if (p.idle) return;
    auto const n = c.all() ? 5000 : 1000; // the others look through all of them at every call
    auto const u = static_cast<std::size_t>(n);
    auto out = message(mpi.key_to(p.to), u), in = room(u);
    std::vector<MPI_Request> receives(u, MPI_REQUEST_NULL), sends(u, MPI_REQUEST_NULL);
    // What a call may refuse for want of resources rests on this; what was taken on must be carried out.
    int posted = 0, wanted = 0, sent = 0, coming = 0;
    {
        auto const resources = mpi.resting_on("p2p.nonblocking.many_pending");
        auto const at = [](auto& list, int i) { return &list[static_cast<std::size_t>(i)]; };
        while (posted < n &&
               mpi.ok(MPI_Irecv(at(in, posted), 1, MPI_INT, p.from, mpi.tag(), mpi.comm, at(receives, posted))))
            ++posted;
        mpi.ok(MPI_Sendrecv(&posted, 1, MPI_INT, p.from, mpi.tag(15), &wanted, 1, MPI_INT, p.to, mpi.tag(15), mpi.comm,
                            MPI_STATUS_IGNORE));
        while (sent < wanted &&
               mpi.ok(MPI_Isend(at(out, sent), 1, MPI_INT, p.to, mpi.tag(), mpi.comm, at(sends, sent))))
            ++sent;
        mpi.ok(MPI_Sendrecv(&sent, 1, MPI_INT, p.to, mpi.tag(15), &coming, 1, MPI_INT, p.from, mpi.tag(15), mpi.comm,
                            MPI_STATUS_IGNORE));
        for (int i = coming; i < posted; ++i) { // nobody sends these
            MPI_Cancel(at(receives, i));
            MPI_Wait(at(receives, i), MPI_STATUS_IGNORE);
        }
    }
    receives.resize(static_cast<std::size_t>(coming));
    sends.resize(static_cast<std::size_t>(sent));
    auto requests = receives;
    requests.insert(requests.end(), sends.begin(), sends.end());
    complete(mpi, c, requests);
    in.resize(static_cast<std::size_t>(coming));
    expect_message(mpi, in, mpi.key_from(p.from), in.size(), "thousands of messages of one int");
}

namespace {
axis<int> const some_numbers("number",
                             {{{"5", "five receives"}, 5}, {{"33", "33 receives"}, 33}, {{"65", "65 receives"}, 65}});
enum class list_kind { nonblocking, persistent, alternating };
axis<list_kind> const list_kinds("request",
                                 {{{"irecv", "nonblocking"}, list_kind::nonblocking},
                                  {{"recv_init", "persistent"}, list_kind::persistent},
                                  {{"both", "persistent and nonblocking by turns"}, list_kind::alternating}});
} // namespace

// Every request of a long list is told apart: its own status, its own message.
ASSAY_TEST(p2p, requests_number,
           requirements{"p2p.completion.all_statuses", "p2p.completion.any_one", "p2p.completion", "p2p.status.fields"},
           over(axis_use{&some_numbers}, axis_use{&list_kinds}, axis_use{&completions()}, communicators::few()),
           note{"receives of 1 to 7 ints and as many sends in one list"}, thread_safe{}) {
    auto const p = pair_of(mpi);
    if (p.idle) return;
    int const n = mpi.at(some_numbers);
    auto const u = static_cast<std::size_t>(n);
    auto const length = [](int i) { return static_cast<std::size_t>(1 + i % 7); };
    auto const is_persistent = [how = mpi.at(list_kinds)](int i) {
        return how == list_kind::persistent || (how == list_kind::alternating && i % 2 == 0);
    };
    std::vector<std::vector<int>> in, out;
    std::vector<MPI_Request> requests(2 * u, MPI_REQUEST_NULL);
    std::vector<bool> persistent(2 * u, false);
    // Two envelopes in turn: of each the messages come in their order.
    auto const tag = [&](int i) { return mpi.tag(i % 2); };
    for (int i = 0; i < n; ++i) {
        in.push_back(room(9));
        out.push_back(message(mpi.key_to(p.to, i), length(i)));
    }
    for (int i = 0; i < n; ++i) {
        auto const k = static_cast<std::size_t>(i);
        persistent[k] = is_persistent(i);
        if (!persistent[k]) {
            mpi.ok(MPI_Irecv(in[k].data(), 9, MPI_INT, p.from, tag(i), mpi.comm, &requests[k]));
            continue;
        }
        mpi.ok(MPI_Recv_init(in[k].data(), 9, MPI_INT, p.from, tag(i), mpi.comm, &requests[k]));
        mpi.ok(MPI_Start(&requests[k]));
    }
    for (int i = 0; i < n; ++i) {
        auto const k = static_cast<std::size_t>(i);
        mpi.ok(
            MPI_Isend(out[k].data(), static_cast<int>(length(i)), MPI_INT, p.to, tag(i), mpi.comm, &requests[u + k]));
    }
    auto const statuses = complete(mpi, mpi.at(completions()), requests, {.persistent = persistent});
    for (int i = 0; i < n; ++i) {
        auto const k = static_cast<std::size_t>(i);
        expect_status(mpi, statuses[k], p.from, tag(i), length(i));
        expect_message(mpi, in[k], mpi.key_from(p.from, i), length(i), fmt::format("receive {} of {}", i, n));
        if (persistent[k] && requests[k] != MPI_REQUEST_NULL) mpi.ok(MPI_Request_free(&requests[k]));
    }
}
