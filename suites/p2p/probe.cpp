// Which message a probe names, what a matching probe takes away from others, and what becomes of message handles (MPI-5.0
// sections 3.8.1 to 3.8.3).
#include "framework/check/logical.hpp"
#include "suites/p2p/pair.hpp"

#include <array>
#include <fmt/format.h>

using namespace assay;
using namespace assay::p2p;

namespace {

enum class call { probe, iprobe, mprobe, improbe };
axis<call> const calls("call", {{{"probe", "MPI_Probe"}, call::probe},
                                {{"iprobe", "MPI_Iprobe"}, call::iprobe},
                                {{"mprobe", "MPI_Mprobe and MPI_Mrecv"}, call::mprobe},
                                {{"improbe", "MPI_Improbe and MPI_Imrecv"}, call::improbe}});
bool matches(call c) { return c == call::mprobe || c == call::improbe; }

axis<std::size_t> const lengths("ints", {{{"3", "small messages"}, 3}, {{"40000", "large ones"}, 40000}});
enum class who { given, any_source, any_tag, anything };
axis<who> const wanted("wildcard", {{{"none", "source and tag given"}, who::given},
                                    {{"source", "MPI_ANY_SOURCE"}, who::any_source},
                                    {{"tag", "MPI_ANY_TAG"}, who::any_tag},
                                    {{"both", "MPI_ANY_SOURCE and MPI_ANY_TAG"}, who::anything}});

// What a probe said; waits until there is a message.
struct found {
    MPI_Status status = poisoned_status();
    MPI_Message message = MPI_MESSAGE_NULL;
};
found look(test_run& mpi, call c, int source, int tag) {
    found f;
    switch (c) {
    case call::probe: mpi.ok(MPI_Probe(source, tag, mpi.comm, &f.status)); break;
    case call::mprobe: mpi.ok(MPI_Mprobe(source, tag, mpi.comm, &f.message, &f.status)); break;
    default:
        until([&] {
            int flag = 0;
            int const code = c == call::iprobe ? MPI_Iprobe(source, tag, mpi.comm, &flag, &f.status)
                                               : MPI_Improbe(source, tag, mpi.comm, &flag, &f.message, &f.status);
            return !mpi.ok(code) || flag != 0;
        });
    }
    if (matches(c))
        mpi.check(f.message != MPI_MESSAGE_NULL && f.message != MPI_MESSAGE_NO_PROC, finding::request,
                  "a matching probe that found a message must give a handle of it");
    return f;
}

bool is_there(test_run& mpi, int source, int tag) {
    int flag = -7;
    mpi.ok(MPI_Iprobe(source, tag, mpi.comm, &flag, MPI_STATUS_IGNORE));
    return flag != 0;
}

// Receives what was found: by its handle, or by the source and tag that the probe named.
void take(test_run& mpi, call c, found& f, int source, int tag, std::uint64_t key, std::size_t n) {
    auto in = room(n + 1);
    auto const count = static_cast<int>(in.size());
    auto status = poisoned_status();
    if (c == call::mprobe) {
        mpi.ok(MPI_Mrecv(in.data(), count, MPI_INT, &f.message, &status));
    } else if (c == call::improbe) {
        MPI_Request request = MPI_REQUEST_NULL;
        mpi.ok(MPI_Imrecv(in.data(), count, MPI_INT, &f.message, &request));
        mpi.check(f.message == MPI_MESSAGE_NULL, finding::request,
                  "MPI_Imrecv must set the message handle to MPI_MESSAGE_NULL");
        mpi.ok(MPI_Wait(&request, &status));
        mpi.check_null(request);
    } else {
        mpi.ok(MPI_Recv(in.data(), count, MPI_INT, f.status.MPI_SOURCE, f.status.MPI_TAG, mpi.comm, &status));
    }
    if (matches(c))
        mpi.check(f.message == MPI_MESSAGE_NULL, finding::request,
                  "a matched receive must set the message handle to MPI_MESSAGE_NULL");
    expect_status(mpi, status, source, tag, n);
    expect_message(mpi, in, key, n, fmt::format("received after the probe, tag {}", tag));
}

} // namespace

// Messages A (tag 0), B (tag 1) and C (tag 0) lie there in this order.
ASSAY_TEST(p2p, probe_order,
           requirements{"p2p.probe.same_as_receive", "p2p.probe.repeated", "p2p.probe.by_tag", "p2p.mprobe.removes",
                        "p2p.mprobe.any_order", "p2p.mrecv.handle_null", "p2p.probe.status"},
           over(axis_use{&calls}, axis_use{&lengths}, axis_use{&wanted}, communicators::few()), wildcards{},
           thread_safe{}) {
    auto const c = mpi.at(calls);
    auto const w = mpi.at(wanted);
    auto const p = pair_of(mpi);
    if (p.idle) return;
    auto const n = mpi.at(lengths);
    struct sent {
        int tag;
        std::size_t ints;
        std::vector<int> data;
    };
    std::array<sent, 3> m{sent{mpi.tag(0), n, {}}, sent{mpi.tag(1), n + 2, {}}, sent{mpi.tag(0), n + 4, {}}};
    std::array<MPI_Request, 3> sends;
    for (std::size_t i = 0; i < 3; ++i) {
        m[i].data = message(mpi.key_to(p.to, static_cast<int>(i)), m[i].ints);
        mpi.ok(MPI_Isend(m[i].data.data(), static_cast<int>(m[i].ints), MPI_INT, p.to, m[i].tag, mpi.comm, &sends[i]));
    }
    int const source = w == who::any_source || w == who::anything ? MPI_ANY_SOURCE : p.from;
    bool const any_tag = w == who::any_tag || w == who::anything;
    auto const expect_found = [&](found const& f, std::size_t i, char const* how) {
        mpi.check(f.status.MPI_TAG == m[i].tag && f.status.MPI_SOURCE == p.from, finding::tag,
                  fmt::format("{}: source {} and tag {}, expected {} and {}", how, f.status.MPI_SOURCE,
                              f.status.MPI_TAG, p.from, m[i].tag));
        int got = -7;
        mpi.ok(MPI_Get_count(&f.status, MPI_INT, &got));
        mpi.check(got == static_cast<int>(m[i].ints), finding::count,
                  fmt::format("{}: {} ints, expected {}, the length of message {}", how, got, m[i].ints, "ABC"[i]));
    };
    auto const receive = [&](found& f, std::size_t i) {
        take(mpi, c, f, p.from, m[i].tag, mpi.key_from(p.from, static_cast<int>(i)), m[i].ints);
    };
    auto first = look(mpi, c, source, any_tag ? MPI_ANY_TAG : m[0].tag);
    expect_found(first, 0, "the first message that matches");
    if (!matches(c)) {
        auto again = look(mpi, c, source, any_tag ? MPI_ANY_TAG : m[0].tag);
        expect_found(again, 0, "probed for again");
        auto second = look(mpi, c, source, m[1].tag);
        expect_found(second, 1, "the other tag");
        receive(second, 1);
        auto still = look(mpi, c, source, any_tag ? MPI_ANY_TAG : m[0].tag);
        expect_found(still, 0, "after another message was received");
        receive(still, 0);
        auto third = look(mpi, c, source, any_tag ? MPI_ANY_TAG : m[2].tag);
        expect_found(third, 2, "the last message");
        receive(third, 2);
    } else {
        // Each matched message is out of reach for others; they are received in another order.
        auto third = look(mpi, c, source, m[2].tag);
        expect_found(third, 2, "the second message of this tag, the first one being matched");
        auto second = look(mpi, c, source, any_tag ? MPI_ANY_TAG : m[1].tag);
        expect_found(second, 1, "what is left");
        for (int poll = 0; poll < polls; ++poll)
            if (!mpi.check(!is_there(mpi, MPI_ANY_SOURCE, MPI_ANY_TAG), finding::leftover,
                           "a probe finds a message although all are matched"))
                break;
        receive(third, 2);
        receive(second, 1);
        receive(first, 0);
    }
    mpi.ok(MPI_Waitall(3, sends.data(), MPI_STATUSES_IGNORE));
}

// A message lies there that does not match.
ASSAY_TEST(p2p, probe_nothing, requirements{"p2p.probe.false_without_match", "p2p.context.probe"},
           over(only(calls, [](call c) { return c == call::iprobe || c == call::improbe; }), communicators::few()),
           note{"the pending message has another tag, or belongs to a duplicate of the communicator"}, thread_safe{}) {
    auto const c = mpi.at(calls);
    auto const p = pair_of(mpi);
    MPI_Comm dup = MPI_COMM_NULL;
    mpi.ok(MPI_Comm_dup(mpi.comm, &dup));
    if (!p.idle) {
        auto out = message(mpi.key_to(p.to), 3), in = room(3);
        MPI_Request send = MPI_REQUEST_NULL;
        mpi.ok(MPI_Isend(out.data(), 3, MPI_INT, p.to, mpi.tag(0), dup, &send));
        auto status = poisoned_status();
        mpi.ok(MPI_Probe(p.from, mpi.tag(0), dup, &status)); // now it is there
        auto const absent = [&](MPI_Comm comm, int tag, char const* why) {
            for (int poll = 0; poll < polls; ++poll) {
                int flag = -7;
                MPI_Message handle = MPI_MESSAGE_NULL;
                mpi.ok(c == call::iprobe ? MPI_Iprobe(p.from, tag, comm, &flag, MPI_STATUS_IGNORE)
                                         : MPI_Improbe(p.from, tag, comm, &flag, &handle, MPI_STATUS_IGNORE));
                if (!mpi.check(flag == 0, finding::request, fmt::format("flag is {}, expected false: {}", flag, why)))
                    return;
            }
        };
        absent(dup, mpi.tag(1), "the message has another tag");
        absent(mpi.comm, mpi.tag(0), "the message belongs to another communicator");
        mpi.ok(MPI_Recv(in.data(), 3, MPI_INT, p.from, mpi.tag(0), dup, MPI_STATUS_IGNORE));
        absent(dup, mpi.tag(0), "the message was received");
        expect_message(mpi, in, mpi.key_from(p.from), 3, "of the duplicate");
        mpi.ok(MPI_Wait(&send, MPI_STATUS_IGNORE));
    }
    mpi.ok(MPI_Comm_free(&dup));
}

// A synchronous send ends when its matched message is received, not when it is matched.
ASSAY_TEST(p2p, probe_synchronous, requirements{"p2p.mprobe.synchronous", "p2p.probe.synchronous"},
           over(axis_use{&calls}, axis_use{&lengths}, communicators::few()), thread_safe{}) {
    auto const c = mpi.at(calls);
    auto const p = pair_of(mpi);
    if (p.idle) return;
    auto const n = mpi.at(lengths);
    auto out = message(mpi.key_to(p.to), n);
    MPI_Request send = MPI_REQUEST_NULL;
    mpi.ok(MPI_Issend(out.data(), static_cast<int>(n), MPI_INT, p.to, mpi.tag(), mpi.comm, &send));
    auto f = look(mpi, c, p.from, mpi.tag());
    await_receiver(mpi, p); // the message of this process was found by its receiver
    for (int poll = 0; poll < polls && send != MPI_REQUEST_NULL; ++poll) {
        int flag = -7;
        mpi.ok(MPI_Test(&send, &flag, MPI_STATUS_IGNORE));
        if (!mpi.check(flag == 0, finding::request,
                       "a synchronous send ended although its message was only probed for"))
            break;
    }
    await_sender(mpi, p);
    take(mpi, c, f, p.from, mpi.tag(), mpi.key_from(p.from), n);
    mpi.ok(MPI_Wait(&send, MPI_STATUS_IGNORE));
}

namespace {
enum class null_call {
    sendrecv,
    sendrecv_from,
    sendrecv_to,
    replace,
    isendrecv,
    ireplace,
    probe,
    iprobe,
    mprobe,
    improbe
};
axis<null_call> const
    null_calls("call", {{{"sendrecv", "MPI_Sendrecv to and from nobody"}, null_call::sendrecv},
                        {{"sendrecv_from", "MPI_Sendrecv that only sends"}, null_call::sendrecv_from},
                        {{"sendrecv_to", "MPI_Sendrecv that only receives"}, null_call::sendrecv_to},
                        {{"sendrecv_replace", "MPI_Sendrecv_replace"}, null_call::replace},
                        {{"isendrecv", "MPI_Isendrecv", needs_procedures({"MPI_Isendrecv"})}, null_call::isendrecv},
                        {{"isendrecv_replace", "MPI_Isendrecv_replace", needs_procedures({"MPI_Isendrecv_replace"})},
                         null_call::ireplace},
                        {{"probe", "MPI_Probe"}, null_call::probe},
                        {{"iprobe", "MPI_Iprobe"}, null_call::iprobe},
                        {{"mprobe", "MPI_Mprobe and MPI_Mrecv"}, null_call::mprobe},
                        {{"improbe", "MPI_Improbe and MPI_Imrecv"}, null_call::improbe}});
} // namespace

ASSAY_TEST(p2p, proc_null_calls,
           requirements{"p2p.proc_null", "p2p.proc_null.message", "p2p.proc_null.sendrecv", "p2p.proc_null.probe",
                        "p2p.proc_null.isendrecv_status"},
           over(axis_use{&null_calls}, communicators::few()), thread_safe{}) {
    auto const c = mpi.at(null_calls);
    auto const p = pair_of(mpi);
    if (p.idle) return;
    auto in = room(4), out = message(mpi.key_to(p.to), 4);
    auto status = poisoned_status();
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Message handle = MPI_MESSAGE_NULL;
    int flag = 0;
    bool expects_null = true, receives = false;
    auto const expect_handle = [&] {
        mpi.check(handle == MPI_MESSAGE_NO_PROC, finding::request,
                  "a matching probe of MPI_PROC_NULL must give MPI_MESSAGE_NO_PROC");
        expect_null_status(mpi, status);
        status = poisoned_status();
    };
    switch (c) {
    case null_call::sendrecv:
        mpi.ok(MPI_Sendrecv(out.data(), 4, MPI_INT, MPI_PROC_NULL, mpi.tag(), in.data(), 4, MPI_INT, MPI_PROC_NULL,
                            mpi.tag(), mpi.comm, &status));
        break;
    case null_call::sendrecv_from: {
        mpi.ok(MPI_Irecv(in.data(), 4, MPI_INT, p.from, mpi.tag(), mpi.comm, &request));
        std::vector<int> nothing = room(4);
        mpi.ok(MPI_Sendrecv(out.data(), 4, MPI_INT, p.to, mpi.tag(), nothing.data(), 4, MPI_INT, MPI_PROC_NULL,
                            mpi.tag(), mpi.comm, &status));
        mpi.ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
        mpi.check(nothing == room(4), finding::data, "a receive from MPI_PROC_NULL changed its buffer");
        receives = true;
        break;
    }
    case null_call::sendrecv_to:
        mpi.ok(MPI_Isend(out.data(), 4, MPI_INT, p.to, mpi.tag(), mpi.comm, &request));
        mpi.ok(MPI_Sendrecv(out.data(), 4, MPI_INT, MPI_PROC_NULL, mpi.tag(), in.data(), 4, MPI_INT, p.from, mpi.tag(),
                            mpi.comm, &status));
        mpi.ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
        expect_status(mpi, status, p.from, mpi.tag(), 4);
        expects_null = false;
        receives = true;
        break;
    case null_call::replace:
        mpi.ok(MPI_Sendrecv_replace(in.data(), 4, MPI_INT, MPI_PROC_NULL, mpi.tag(), MPI_PROC_NULL, mpi.tag(), mpi.comm,
                                    &status));
        break;
    case null_call::isendrecv:
        mpi.ok(MPI_Isendrecv(out.data(), 4, MPI_INT, MPI_PROC_NULL, mpi.tag(), in.data(), 4, MPI_INT, MPI_PROC_NULL,
                             mpi.tag(), mpi.comm, &request));
        mpi.ok(MPI_Wait(&request, &status));
        break;
    case null_call::ireplace:
        mpi.ok(MPI_Isendrecv_replace(in.data(), 4, MPI_INT, MPI_PROC_NULL, mpi.tag(), MPI_PROC_NULL, mpi.tag(),
                                     mpi.comm, &request));
        mpi.ok(MPI_Wait(&request, &status));
        break;
    case null_call::probe: mpi.ok(MPI_Probe(MPI_PROC_NULL, mpi.tag(), mpi.comm, &status)); break;
    case null_call::iprobe:
        mpi.ok(MPI_Iprobe(MPI_PROC_NULL, mpi.tag(), mpi.comm, &flag, &status));
        mpi.check(logical(flag), finding::request,
                  fmt::format("MPI_Iprobe of MPI_PROC_NULL gives flag {}, expected true", flag));
        break;
    case null_call::mprobe:
        mpi.ok(MPI_Mprobe(MPI_PROC_NULL, mpi.tag(), mpi.comm, &handle, &status));
        expect_handle();
        mpi.ok(MPI_Mrecv(in.data(), 4, MPI_INT, &handle, &status));
        break;
    case null_call::improbe:
        mpi.ok(MPI_Improbe(MPI_PROC_NULL, mpi.tag(), mpi.comm, &flag, &handle, &status));
        mpi.check(logical(flag), finding::request,
                  fmt::format("MPI_Improbe of MPI_PROC_NULL gives flag {}, expected true", flag));
        expect_handle();
        mpi.ok(MPI_Imrecv(in.data(), 4, MPI_INT, &handle, &request));
        mpi.ok(MPI_Wait(&request, &status));
        break;
    }
    if (expects_null) expect_null_status(mpi, status);
    if (c == null_call::mprobe || c == null_call::improbe)
        mpi.check(handle == MPI_MESSAGE_NULL, finding::request,
                  "a matched receive must set MPI_MESSAGE_NO_PROC to MPI_MESSAGE_NULL, too");
    mpi.check_null(request);
    if (receives) expect_message(mpi, in, mpi.key_from(p.from), 4, "of the side that is not MPI_PROC_NULL");
    else mpi.check(in == room(4), finding::data, "a receive from MPI_PROC_NULL changed its buffer");
    mpi.check(out == message(mpi.key_to(p.to), 4), finding::data, "the send changed its buffer");
}
