// Which receive gets which message (MPI-5.0 sections 3.2.3, 3.2.4, 3.4 and 3.5): order, contexts, tags, lengths.
#include "suites/p2p/pair.hpp"

#include "framework/process/erroneous.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>

using namespace assay;
using namespace assay::p2p;

namespace {

axis<bool> const posting("receives", {{{"first", "posted before their sender starts a send"}, true},
                                      {{"later", "posted after their sender has started every send"}, false}});
struct wildcard {
    bool source, tag;
};
axis<wildcard> const wildcard_axis("wildcard", {{{"none", "source and tag given"}, {false, false}},
                                                {{"source", "MPI_ANY_SOURCE"}, {true, false}},
                                                {{"tag", "MPI_ANY_TAG"}, {false, true}},
                                                {{"both", "both"}, {true, true}}});
// Lengths in ints of successive messages: libraries send short and long ones in different ways.
constexpr std::array<std::size_t, 12> lengths = {1, 50000, 0, 3, 100000, 2, 17, 20000, 5, 4000, 70000, 1};

// Keeps what the axis `receives` says. The words travel on a communicator of their own, where receives with MPI_ANY_TAG and
// tags of all values are not open.
class agreed_moment {
public:
    explicit agreed_moment(test_run& mpi) : mpi_(mpi), first_(mpi.at(posting)) { // collective
        mpi_.ok(MPI_Comm_dup(mpi_.comm, &words_));
    }
    ~agreed_moment() { mpi_.ok(MPI_Comm_free(&words_)); }
    agreed_moment(agreed_moment const&) = delete;
    agreed_moment& operator=(agreed_moment const&) = delete;

    // Between these two the process starts its sends.
    template <class Post> void before_sends(pair const& p, Post post) {
        if (!first_) return;
        post();
        exchange(p.from, p.to); // "I have posted"
    }
    template <class Post> void after_sends(pair const& p, Post post) {
        if (first_) return;
        exchange(p.to, p.from); // "I have started all"
        post();
    }

private:
    void exchange(int to, int from) {
        mpi_.ok(MPI_Sendrecv(nullptr, 0, MPI_BYTE, to, 0, nullptr, 0, MPI_BYTE, from, 0, words_, MPI_STATUS_IGNORE));
    }

    test_run& mpi_;
    bool const first_;
    MPI_Comm words_ = MPI_COMM_NULL;
};
} // namespace

// One sender's messages differ in length and mode; they must come in their order.
ASSAY_TEST(p2p, order_lengths, requirements{"p2p.order.lengths", "p2p.order.modes", "p2p.order.non_overtaking"},
           over(axis_use{&posting}, axis_use{&wildcard_axis}, communicators::few()), wildcards{},
           note{"standard and synchronous messages of 0 to 100,000 ints"}, thread_safe{}) {
    auto const p = pair_of(mpi);
    agreed_moment moment(mpi);
    if (p.idle) return;
    auto const w = mpi.at(wildcard_axis);
    constexpr auto n = lengths.size();
    std::array<std::vector<int>, n> out, in;
    std::vector<MPI_Request> requests(2 * n, MPI_REQUEST_NULL);
    std::vector<MPI_Status> statuses(2 * n, poisoned_status());
    auto const post = [&] {
        for (std::size_t i = 0; i < n; ++i) {
            in[i] = room(100000);
            mpi.ok(MPI_Irecv(in[i].data(), 100000, MPI_INT, w.source ? MPI_ANY_SOURCE : p.from,
                             w.tag ? MPI_ANY_TAG : mpi.tag(), mpi.comm, &requests[i]));
        }
    };
    moment.before_sends(p, post);
    for (std::size_t i = 0; i < n; ++i) {
        out[i] = message(mpi.key_to(p.to, static_cast<int>(i)), lengths[i]);
        auto const count = static_cast<int>(lengths[i]);
        mpi.ok(i % 2 == 0 ? MPI_Isend(out[i].data(), count, MPI_INT, p.to, mpi.tag(), mpi.comm, &requests[n + i])
                          : MPI_Issend(out[i].data(), count, MPI_INT, p.to, mpi.tag(), mpi.comm, &requests[n + i]));
    }
    moment.after_sends(p, post);
    mpi.ok(MPI_Waitall(static_cast<int>(2 * n), requests.data(), statuses.data()));
    for (std::size_t i = 0; i < n; ++i) {
        expect_status(mpi, statuses[i], p.from, mpi.tag(), lengths[i]);
        expect_message(mpi, in[i], mpi.key_from(p.from, static_cast<int>(i)), lengths[i], fmt::format("message {}", i));
    }
}

// Four receives of different selectivity, posted in this order: tag 1, anything, tag 0, anything. Messages: tags 0, 1, 0, 0.
ASSAY_TEST(p2p, order_receives, requirements{"p2p.order.receives", "p2p.tag.selects"},
           over(axis_use{&posting}, axis_use{&wildcard_axis}, communicators::few()), wildcards{}, thread_safe{}) {
    auto const p = pair_of(mpi);
    agreed_moment moment(mpi);
    if (p.idle) return;
    auto const w = mpi.at(wildcard_axis);
    int const source = w.source ? MPI_ANY_SOURCE : p.from;
    std::array<int, 4> const tags{mpi.tag(0), mpi.tag(1), mpi.tag(0), mpi.tag(0)};
    // The receives that want anything are given tag 0 where there is no wildcard: they get the same messages.
    int const any = w.tag ? MPI_ANY_TAG : mpi.tag(0);
    std::array<int, 4> const wanted{mpi.tag(1), any, mpi.tag(0), any};
    std::array<int, 4> const got_by{1, 0, 2, 3}; // message of each receive
    std::array<std::vector<int>, 4> in, out;
    std::array<MPI_Request, 8> requests;
    std::array<MPI_Status, 8> statuses;
    requests.fill(MPI_REQUEST_NULL);
    statuses.fill(poisoned_status());
    auto const post = [&] {
        for (std::size_t i = 0; i < 4; ++i) {
            in[i] = room(8);
            mpi.ok(MPI_Irecv(in[i].data(), 8, MPI_INT, source, wanted[i], mpi.comm, &requests[i]));
        }
    };
    moment.before_sends(p, post);
    for (std::size_t i = 0; i < 4; ++i) {
        out[i] = message(mpi.key_to(p.to, static_cast<int>(i)), 5 + i);
        mpi.ok(MPI_Isend(out[i].data(), static_cast<int>(5 + i), MPI_INT, p.to, tags[i], mpi.comm, &requests[4 + i]));
    }
    moment.after_sends(p, post);
    mpi.ok(MPI_Waitall(8, requests.data(), statuses.data()));
    for (std::size_t i = 0; i < 4; ++i) {
        auto const m = static_cast<std::size_t>(got_by[i]);
        expect_status(mpi, statuses[i], p.from, tags[m], 5 + m);
        expect_message(mpi, in[i], mpi.key_from(p.from, got_by[i]), 5 + m,
                       fmt::format("receive {}, which must get message {}", i, m));
    }
}

// Tags that are sent in one order and received in the other.
ASSAY_TEST(p2p, order_tags, requirements{"p2p.tag.selects", "p2p.tag.range", "p2p.tag.upper_bound"},
           over(axis_use{&posting}, communicators::few()), wildcards{},
           note{"0, 1, 32767 and those up to MPI_TAG_UB; sent in one order, received in the other"}, thread_safe{}) {
    auto const p = pair_of(mpi);
    agreed_moment moment(mpi);
    if (p.idle) return;
    void* attribute = nullptr;
    int there = 0;
    mpi.ok(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &attribute, &there));
    if (!mpi.check(there != 0, finding::value, "MPI_COMM_WORLD has no attribute MPI_TAG_UB")) return;
    int const bound = *static_cast<int*>(attribute);
    if (!mpi.check(bound >= 32767, finding::value, fmt::format("MPI_TAG_UB is {}, expected at least 32767", bound)))
        return;
    std::vector<int> tags{0, 1, 2, 255, 256, 16384, 32767, bound / 2, bound - 1, bound};
    std::sort(tags.begin(), tags.end());
    tags.erase(std::unique(tags.begin(), tags.end()), tags.end());
    auto const n = tags.size();
    std::vector<std::vector<int>> in(n), out(n);
    std::vector<MPI_Request> requests(2 * n, MPI_REQUEST_NULL);
    std::vector<MPI_Status> statuses(2 * n, poisoned_status());
    auto const post = [&] {
        for (std::size_t i = n; i-- > 0;) {
            in[i] = room(4);
            mpi.ok(MPI_Irecv(in[i].data(), 4, MPI_INT, p.from, tags[i], mpi.comm, &requests[i]));
        }
    };
    moment.before_sends(p, post);
    for (std::size_t i = 0; i < n; ++i) {
        out[i] = message(mpi.key_to(p.to, static_cast<int>(i)), 3);
        mpi.ok(MPI_Isend(out[i].data(), 3, MPI_INT, p.to, tags[i], mpi.comm, &requests[n + i]));
    }
    moment.after_sends(p, post);
    mpi.ok(MPI_Waitall(static_cast<int>(2 * n), requests.data(), statuses.data()));
    for (std::size_t i = 0; i < n; ++i) {
        expect_status(mpi, statuses[i], p.from, tags[i], 3);
        expect_message(mpi, in[i], mpi.key_from(p.from, static_cast<int>(i)), 3, fmt::format("tag {}", tags[i]));
    }
}

namespace {
enum class other { dup, split, idup };
axis<other> const others("other", {{{"dup", "MPI_Comm_dup"}, other::dup},
                                   {{"split", "MPI_Comm_split with one color"}, other::split},
                                   {{"idup", "MPI_Comm_idup"}, other::idup}});
} // namespace

// Two communicators of the same processes: the same source and tag, and receives that take anything.
ASSAY_TEST(p2p, order_contexts, requirements{"p2p.context.separate"},
           over(axis_use{&others}, axis_use{&posting}, axis_use{&wildcard_axis}, communicators::few()), wildcards{},
           thread_safe{}) {
    auto const p = pair_of(mpi);
    agreed_moment moment(mpi);
    auto const w = mpi.at(wildcard_axis);
    MPI_Comm second = MPI_COMM_NULL;
    switch (mpi.at(others)) {
    case other::dup: mpi.ok(MPI_Comm_dup(mpi.comm, &second)); break;
    case other::split: mpi.ok(MPI_Comm_split(mpi.comm, 0, mpi.rank, &second)); break;
    case other::idup: {
        MPI_Request request = MPI_REQUEST_NULL;
        mpi.ok(MPI_Comm_idup(mpi.comm, &second, &request));
        mpi.ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
        break;
    }
    }
    if (!p.idle) {
        std::array<MPI_Comm, 2> const comms{mpi.comm, second};
        std::array<std::vector<int>, 2> in, out;
        std::array<MPI_Request, 4> requests;
        std::array<MPI_Status, 4> statuses;
        requests.fill(MPI_REQUEST_NULL);
        statuses.fill(poisoned_status());
        auto const post = [&] {
            for (std::size_t i = 0; i < 2; ++i) {
                in[i] = room(6);
                mpi.ok(MPI_Irecv(in[i].data(), 6, MPI_INT, w.source ? MPI_ANY_SOURCE : p.from,
                                 w.tag ? MPI_ANY_TAG : mpi.tag(), comms[i], &requests[i]));
            }
        };
        moment.before_sends(p, post);
        for (std::size_t i = 2; i-- > 0;) { // the second communicator's message comes first
            out[i] = message(mpi.key_to(p.to, static_cast<int>(i)), 4 + i);
            mpi.ok(MPI_Isend(out[i].data(), static_cast<int>(4 + i), MPI_INT, p.to, mpi.tag(), comms[i],
                             &requests[2 + i]));
        }
        moment.after_sends(p, post);
        mpi.ok(MPI_Waitall(4, requests.data(), statuses.data()));
        for (std::size_t i = 0; i < 2; ++i) {
            expect_status(mpi, statuses[i], p.from, mpi.tag(), 4 + i);
            expect_message(mpi, in[i], mpi.key_from(p.from, static_cast<int>(i)), 4 + i,
                           i == 0 ? "on the communicator" : "on the other communicator");
        }
    }
    mpi.ok(MPI_Comm_free(&second));
}

namespace {
enum class size { empty, small, mixed };
axis<size> const sizes("ints", {{{"0", "empty messages"}, size::empty},
                                {{"3", "three ints"}, size::small},
                                {{"mixed", "0 to 500 ints"}, size::mixed}});
} // namespace

ASSAY_TEST(p2p, order_flood, requirements{"p2p.order.unexpected_flood", "p2p.order.many_unexpected"},
           over(axis_use{&sizes}, communicators::few()),
           note{"10,000 messages are sent before the first is received, or as many as the library has resources for"},
           thread_safe{}) {
    auto const p = pair_of(mpi);
    if (p.idle) return;
    constexpr int n = 10000;
    auto const length = [&](int i) -> std::size_t {
        auto const s = mpi.at(sizes);
        return s == size::empty ? 0 : s == size::small ? 3 : static_cast<std::size_t>(i % 500);
    };
    // The i-th message is a part of one that everybody knows; its first int is its own.
    auto const source = message(mpi.key_to(p.to), 11000), expected = message(mpi.key_from(p.from), 11000);
    std::vector<MPI_Request> sends(n + 1, MPI_REQUEST_NULL);
    auto const resources = mpi.resting_on("p2p.order.many_unexpected"); // of calls; data and order are must
    int sent = 0, there = 0;
    while (sent < n && mpi.ok(MPI_Isend(&source[static_cast<std::size_t>(sent)], static_cast<int>(length(sent)),
                                        MPI_INT, p.to, mpi.tag(0), mpi.comm, &sends[static_cast<std::size_t>(sent)])))
        ++sent;
    mpi.ok(MPI_Isend(&sent, 1, MPI_INT, p.to, mpi.tag(1), mpi.comm, &sends[n]));
    if (!mpi.ok(MPI_Recv(&there, 1, MPI_INT, p.from, mpi.tag(1), mpi.comm, MPI_STATUS_IGNORE))) return;
    std::vector<int> in = room(600);
    for (int i = 0; i < there; ++i) {
        auto status = poisoned_status();
        if (!mpi.ok(MPI_Recv(in.data(), 600, MPI_INT, p.from, mpi.tag(0), mpi.comm, &status))) break;
        int got = -7;
        mpi.ok(MPI_Get_count(&status, MPI_INT, &got));
        bool const fine =
            mpi.check("p2p.order.unexpected_flood", got == static_cast<int>(length(i)), finding::count,
                      fmt::format("message {} of {} has {} ints, expected {}", i, n, got, length(i))) &&
            mpi.check("p2p.order.unexpected_flood", std::equal(in.begin(), in.begin() + got, expected.begin() + i),
                      finding::data, fmt::format("message {} of {} is not the one that was sent at this point", i, n));
        if (!fine) break;
    }
    mpi.ok(MPI_Waitall(n + 1, sends.data(), MPI_STATUSES_IGNORE));
}

namespace {
enum class way { recv, irecv, recv_init, mrecv, imrecv, sendrecv };
axis<way> const ways("receive", {{{"recv", "MPI_Recv"}, way::recv},
                                 {{"irecv", "MPI_Irecv"}, way::irecv},
                                 {{"recv_init", "MPI_Recv_init"}, way::recv_init},
                                 {{"mrecv", "MPI_Mrecv"}, way::mrecv},
                                 {{"imrecv", "MPI_Imrecv"}, way::imrecv},
                                 {{"sendrecv", "MPI_Sendrecv"}, way::sendrecv}});

// Receives at most `count` elements of the message with tag 0; returns the code that the receive ended with.
int receive(test_run& mpi, way how, void* into, int count, MPI_Datatype type, int from, MPI_Status* status) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Message handle = MPI_MESSAGE_NULL;
    switch (how) {
    case way::recv: return MPI_Recv(into, count, type, from, mpi.tag(), mpi.comm, status);
    case way::irecv:
        mpi.ok(MPI_Irecv(into, count, type, from, mpi.tag(), mpi.comm, &request));
        return MPI_Wait(&request, status);
    case way::recv_init: {
        mpi.ok(MPI_Recv_init(into, count, type, from, mpi.tag(), mpi.comm, &request));
        mpi.ok(MPI_Start(&request));
        int const code = MPI_Wait(&request, status);
        if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
        return code;
    }
    case way::mrecv:
        mpi.ok(MPI_Mprobe(from, mpi.tag(), mpi.comm, &handle, MPI_STATUS_IGNORE));
        return MPI_Mrecv(into, count, type, &handle, status);
    case way::imrecv:
        mpi.ok(MPI_Mprobe(from, mpi.tag(), mpi.comm, &handle, MPI_STATUS_IGNORE));
        mpi.ok(MPI_Imrecv(into, count, type, &handle, &request));
        return MPI_Wait(&request, status);
    case way::sendrecv:
        return MPI_Sendrecv(nullptr, 0, MPI_INT, MPI_PROC_NULL, 0, into, count, type, from, mpi.tag(), mpi.comm,
                            status);
    }
    return MPI_ERR_INTERN;
}
} // namespace

ASSAY_TEST(p2p, shorter, requirements{"p2p.recv.shorter", "p2p.status.get_count"},
           over(axis_use{&ways}, communicators::few(), datatypes::all(), counts::ladder(), placements::all()),
           fits_memory(false), note{"the receive has room for three elements more than the message has"},
           thread_safe{}) {
    auto const p = pair_of(mpi);
    if (p.idle) return;
    auto& out = mpi.outgoing(p.to);
    auto& in = mpi.incoming(mpi.elements + 3);
    MPI_Request send = MPI_REQUEST_NULL;
    auto status = poisoned_status();
    mpi.ok(MPI_Isend(out, mpi.count, mpi.type, p.to, mpi.tag(), mpi.comm, &send));
    mpi.ok(receive(mpi, mpi.at(ways), in, mpi.count + 3, mpi.type, p.from, &status));
    mpi.ok(MPI_Wait(&send, MPI_STATUS_IGNORE));
    mpi.expect(status).source(p.from).tag(mpi.tag()).count(mpi.elements).not_cancelled();
    in.expect(mpi.key_from(p.from), mpi.elements, fmt::format("from rank {}, shorter than the receive", p.from));
    out.expect_unchanged();
}

namespace {
axis<std::size_t> const too_long("ints", {{{"5", "a small message"}, 5}, {{"50000", "a large one"}, 50000}});
} // namespace

ASSAY_TEST(p2p, truncated,
           requirements{"p2p.recv.truncated", "p2p.recv.truncated_memory", "p2p.recv.truncated_class",
                        "p2p.recv.truncated_status", "p2p.recv.truncated_sender", "errors.raised.goes_on"},
           over(axis_use{&ways}, axis_use{&too_long}, communicators::few()),
           note{"the message is longer than the receive"}, thread_safe{}) {
    auto const p = pair_of(mpi);
    if (p.idle) return;
    auto const n = mpi.at(too_long), fits = n - 2;
    auto out = message(mpi.key_to(p.to), n), in = room(n + 4);
    MPI_Request send = MPI_REQUEST_NULL;
    auto status = poisoned_status();
    mpi.ok(MPI_Isend(out.data(), static_cast<int>(n), MPI_INT, p.to, mpi.tag(), mpi.comm, &send));
    erroneous_from_here();
    int const code = receive(mpi, mpi.at(ways), in.data(), static_cast<int>(fits), MPI_INT, p.from, &status);
    if (mpi.check("p2p.recv.truncated", code != MPI_SUCCESS, finding::return_,
                  "a receive that is too small ends with MPI_SUCCESS"))
        mpi.check(
            "p2p.recv.truncated_class", class_of(code) == MPI_ERR_TRUNCATE, finding::return_,
            fmt::format("a receive that is too small ends with \"{}\", expected MPI_ERR_TRUNCATE", error_text(code)));
    mpi.check("p2p.recv.truncated_status", status.MPI_SOURCE == p.from && status.MPI_TAG == mpi.tag(), finding::source,
              fmt::format("the status says source {} and tag {}, expected {} and {}", status.MPI_SOURCE, status.MPI_TAG,
                          p.from, mpi.tag()));
    for (std::size_t i = fits; i < in.size(); ++i)
        if (!mpi.check("p2p.recv.truncated_memory", in[i] == poison_int, finding::guard,
                       fmt::format("int {} after the receive buffer of {} was written", i - fits, fits)))
            break;
    {
        auto const of_the_sender = mpi.resting_on("p2p.recv.truncated_sender");
        mpi.ok(MPI_Wait(&send, MPI_STATUS_IGNORE));
    }
    // It did no harm to what comes after it.
    auto const afterwards = mpi.resting_on("errors.raised.goes_on");
    auto more = message(mpi.key_to(p.to, 1), n), next = room(n);
    mpi.ok(MPI_Isend(more.data(), static_cast<int>(n), MPI_INT, p.to, mpi.tag(1), mpi.comm, &send));
    mpi.ok(MPI_Recv(next.data(), static_cast<int>(n), MPI_INT, p.from, mpi.tag(1), mpi.comm, &status));
    mpi.ok(MPI_Wait(&send, MPI_STATUS_IGNORE));
    mpi.check(next == message(mpi.key_from(p.from, 1), n), finding::data, "the message after a truncated one is wrong");
}

namespace {
enum class synchronous { issend, ssend_init };
axis<synchronous> const synchronous_sends("mode", {{{"issend", "MPI_Issend"}, synchronous::issend},
                                                   {{"ssend_init", "MPI_Ssend_init"}, synchronous::ssend_init}});
axis<std::size_t> const any_length("ints", {{{"0", "an empty message"}, 0},
                                            {{"5", "a small message"}, 5},
                                            {{"50000", "a large one"}, 50000}});
} // namespace

ASSAY_TEST(p2p, synchronous, requirements{"p2p.synchronous.not_before_receive", "p2p.synchronous.without_wait"},
           over(axis_use{&synchronous_sends}, axis_use{&any_length}, communicators::few()), thread_safe{}) {
    auto const p = pair_of(mpi);
    if (p.idle) return;
    auto const n = mpi.at(any_length);
    auto const count = static_cast<int>(n);
    auto out = message(mpi.key_to(p.to), n), in = room(n);
    MPI_Request send = MPI_REQUEST_NULL, receiving = MPI_REQUEST_NULL;
    bool const persistent = mpi.at(synchronous_sends) == synchronous::ssend_init;
    if (persistent) {
        mpi.ok(MPI_Ssend_init(out.data(), count, MPI_INT, p.to, mpi.tag(), mpi.comm, &send));
        mpi.ok(MPI_Start(&send));
    } else {
        mpi.ok(MPI_Issend(out.data(), count, MPI_INT, p.to, mpi.tag(), mpi.comm, &send));
    }
    for (int poll = 0; poll < polls; ++poll) {
        int flag = -7;
        // MPI_Request_get_status leaves the request as it is, whatever it says.
        mpi.ok(MPI_Request_get_status(send, &flag, MPI_STATUS_IGNORE));
        if (!mpi.check(flag == 0, finding::request, "a synchronous send ended although no receive was started")) break;
    }
    await_receiver(mpi, p); // nobody receives before its sender has looked
    await_sender(mpi, p);
    mpi.ok(MPI_Irecv(in.data(), count, MPI_INT, p.from, mpi.tag(), mpi.comm, &receiving));
    // All receives are started, none is completed: the sends must end all the same.
    mpi.ok(MPI_Wait(&send, MPI_STATUS_IGNORE));
    mpi.ok(MPI_Wait(&receiving, MPI_STATUS_IGNORE));
    expect_message(mpi, in, mpi.key_from(p.from), n, "of a synchronous send");
    if (persistent) mpi.ok(MPI_Request_free(&send));
}

namespace {
axis<bool> const first_mode("first", {{{"bsend", "MPI_Bsend"}, false}, {{"isend", "MPI_Isend"}, true}});
}

// Two intertwined pairs: the first message is received after the second one, which is synchronous and blocking.
ASSAY_TEST(p2p, intertwined, requirements{"p2p.progress.intertwined", "p2p.buffered.local"},
           over(axis_use{&first_mode}, axis_use{&any_length}, communicators::of({"world", "inter_halved"})),
           where(comm_axis(),
                 [](job const& j, communicator const& c) {
                     return c.kind == comm_kind::inter || smallest_size(c, j.np) >= 2;
                 }),
           thread_safe{}, uses_attached_buffer{}) {
    auto const n = mpi.at(any_length);
    auto const count = static_cast<int>(n);
    bool const sends = mpi.inter ? mpi.side == 0 && mpi.rank == 0 : mpi.rank == 0;
    bool const receives = mpi.inter ? mpi.side == 1 && mpi.rank == 0 : mpi.rank == 1;
    int const peer = mpi.inter ? 0 : 1 - mpi.rank;
    if (sends) {
        auto a = message(mpi.key_to(peer, 0), n), b = message(mpi.key_to(peer, 1), n);
        std::vector<char> space(n * sizeof(int) + 1024 + MPI_BSEND_OVERHEAD);
        MPI_Request request = MPI_REQUEST_NULL;
        if (mpi.at(first_mode)) {
            mpi.ok(MPI_Isend(a.data(), count, MPI_INT, peer, mpi.tag(0), mpi.comm, &request));
        } else {
            mpi.ok(MPI_Buffer_attach(space.data(), static_cast<int>(space.size())));
            mpi.ok(MPI_Bsend(a.data(), count, MPI_INT, peer, mpi.tag(0), mpi.comm));
        }
        mpi.ok(MPI_Ssend(b.data(), count, MPI_INT, peer, mpi.tag(1), mpi.comm));
        mpi.ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
        void* address = nullptr;
        int size = 0;
        if (!mpi.at(first_mode)) mpi.ok(MPI_Buffer_detach(&address, &size));
    }
    if (receives)
        for (int i : {1, 0}) {
            auto in = room(n);
            auto status = poisoned_status();
            mpi.ok(MPI_Recv(in.data(), count, MPI_INT, peer, mpi.tag(i), mpi.comm, &status));
            expect_status(mpi, status, peer, mpi.tag(i), n);
            expect_message(mpi, in, mpi.key_from(peer, i), n, i == 0 ? "the first message" : "the second message");
        }
}

// A message without elements has an envelope all the same.
ASSAY_TEST(p2p, empty_message, requirements{"p2p.send.zero_count"}, over(axis_use{&ways}, communicators::few()),
           note{"no buffer, and a receive that has room"}, thread_safe{}) {
    auto const p = pair_of(mpi);
    if (p.idle) return;
    auto in = room(4);
    MPI_Request sends[2];
    mpi.ok(MPI_Isend(nullptr, 0, MPI_INT, p.to, mpi.tag(), mpi.comm, &sends[0]));
    mpi.ok(MPI_Issend(nullptr, 0, MPI_INT, p.to, mpi.tag(), mpi.comm, &sends[1]));
    for (int i = 0; i < 2; ++i) {
        auto status = poisoned_status();
        mpi.ok(i == 0 ? receive(mpi, mpi.at(ways), in.data(), 4, MPI_INT, p.from, &status)
                      : receive(mpi, mpi.at(ways), nullptr, 0, MPI_INT, p.from, &status));
        expect_status(mpi, status, p.from, mpi.tag(), 0);
    }
    mpi.check(in == room(4), finding::data, "an empty message changed the receive buffer");
    mpi.ok(MPI_Waitall(2, sends, MPI_STATUSES_IGNORE));
}
