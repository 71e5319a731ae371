// Send-receive with different partners, lengths, datatypes and tags on its two sides, matched by other calls (MPI-5.0
// section 3.2.7).
#include "suites/p2p/pair.hpp"

#include <fmt/format.h>

using namespace assay;
using namespace assay::p2p;

namespace {

enum class call { sendrecv, replace, isendrecv, ireplace };
axis<call> const
    calls("call",
          {{{"sendrecv", "MPI_Sendrecv"}, call::sendrecv},
           {{"sendrecv_replace", "MPI_Sendrecv_replace"}, call::replace},
           {{"isendrecv", "MPI_Isendrecv, since MPI-4.0", needs_procedures({"MPI_Isendrecv"})}, call::isendrecv},
           {{"isendrecv_replace", "MPI_Isendrecv_replace, since MPI-4.0", needs_procedures({"MPI_Isendrecv_replace"})},
            call::ireplace}});
enum class other_side { same, send, receive, probe };
axis<other_side> const sides("matched_by",
                             {{{"same", "the same call"}, other_side::same},
                              {{"recv", "MPI_Recv takes what it sends"}, other_side::receive},
                              {{"send", "MPI_Isend sends what it receives"}, other_side::send},
                              {{"probe", "MPI_Probe and MPI_Recv take what it sends"}, other_side::probe}});
axis<std::size_t> const lengths("ints", {{{"0", "empty"}, 0}, {{"7", "small"}, 7}, {{"60000", "large"}, 60000}});
axis<bool> const any_source("wildcard", {{{"none", "source and tag given"}, false},
                                         {{"both", "MPI_ANY_SOURCE and MPI_ANY_TAG"}, true}});

} // namespace

// What the call sends is received by another call, or what it receives was sent by another one; its other side is then
// MPI_PROC_NULL.
static void matched(test_run& mpi) {
    auto const c = mpi.at(calls);
    auto const s = mpi.at(sides);
    auto const p = pair_of(mpi);
    if (p.idle) return;
    bool const replace = c == call::replace || c == call::ireplace, any = mpi.at(any_source);
    auto const n = mpi.at(lengths);
    // What the call sends goes with tag 0, what it receives comes with tag 0 (the same call) or 1 (a plain send).
    int const sends_tag = mpi.tag(0), gets_tag = s == other_side::send ? mpi.tag(1) : mpi.tag(0);
    bool const takes = s == other_side::receive || s == other_side::probe; // a plain receive takes what the call sends
    bool const gives = s == other_side::send;                              // a plain send feeds the call
    int const call_to = gives ? MPI_PROC_NULL : p.to, call_from = takes ? MPI_PROC_NULL : p.from;
    auto out = message(mpi.key_to(p.to), n);
    auto in = room(2 * n + 3), extra = room(2 * n + 3);
    if (replace) {
        in = out;
        in.resize(n, 0);
    }
    auto const count = static_cast<int>(n), most = replace ? count : static_cast<int>(in.size());
    MPI_Request plain = MPI_REQUEST_NULL, request = MPI_REQUEST_NULL;
    if (gives) mpi.ok(MPI_Isend(out.data(), count, MPI_INT, p.to, gets_tag, mpi.comm, &plain));
    if (s == other_side::receive)
        mpi.ok(MPI_Irecv(extra.data(), static_cast<int>(extra.size()), MPI_INT, p.from, sends_tag, mpi.comm, &plain));
    int const source = any ? MPI_ANY_SOURCE : call_from, tag = any ? MPI_ANY_TAG : gets_tag;
    auto status = poisoned_status();
    bool const nonblocking = c == call::isendrecv || c == call::ireplace;
    switch (c) {
    case call::sendrecv:
        mpi.ok(MPI_Sendrecv(out.data(), count, MPI_INT, call_to, sends_tag, in.data(), most, MPI_INT, source, tag,
                            mpi.comm, &status));
        break;
    case call::replace:
        mpi.ok(MPI_Sendrecv_replace(in.data(), count, MPI_INT, call_to, sends_tag, source, tag, mpi.comm, &status));
        break;
    case call::isendrecv:
        mpi.ok(MPI_Isendrecv(out.data(), count, MPI_INT, call_to, sends_tag, in.data(), most, MPI_INT, source, tag,
                             mpi.comm, &request));
        break;
    case call::ireplace:
        mpi.ok(MPI_Isendrecv_replace(in.data(), count, MPI_INT, call_to, sends_tag, source, tag, mpi.comm, &request));
        break;
    }
    if (s == other_side::probe) {
        auto found = poisoned_status();
        mpi.ok(MPI_Probe(p.from, sends_tag, mpi.comm, &found));
        expect_status(mpi, found, p.from, sends_tag, n);
        mpi.ok(MPI_Recv(extra.data(), static_cast<int>(extra.size()), MPI_INT, p.from, sends_tag, mpi.comm, &found));
    }
    if (nonblocking) mpi.ok(MPI_Wait(&request, &status));
    mpi.check_null(request);
    mpi.ok(MPI_Wait(&plain, MPI_STATUS_IGNORE));
    if (takes) {
        expect_message(mpi, extra, mpi.key_from(p.from), n, "taken by a plain receive");
    } else {
        if (!nonblocking) expect_status(mpi, status, p.from, gets_tag, n);
        expect_message(mpi, in, mpi.key_from(p.from), n, "received by the call");
    }
    mpi.check(out == message(mpi.key_to(p.to), n), finding::data, "the send changed its buffer");
}

ASSAY_TEST(p2p, sendrecv_matched, requirements{"p2p.sendrecv.plain_partner", "p2p.sendrecv.wildcard"},
           over(axis_use{&calls}, only(sides, [](other_side s) { return s != other_side::probe; }), axis_use{&lengths},
                axis_use{&any_source}, communicators::few()),
           wildcards{},
           // What is to be taken by a receive of our own must not be taken by the wildcard of the call.
           where(sides, any_source, [](other_side s, bool any) { return s == other_side::same || !any; }),
           thread_safe{}) {
    matched(mpi);
}
// A blocking call may wait for the receive that comes after it: these are probed for only where they do not block.
ASSAY_TEST(p2p, sendrecv_probed, requirements{"p2p.sendrecv.probed"},
           over(only(calls, [](call c) { return c == call::isendrecv || c == call::ireplace; }),
                only(sides, [](other_side s) { return s == other_side::probe; }), axis_use{&lengths},
                only(any_source, [](bool any) { return !any; }), communicators::few()),
           needs_procedures({"MPI_Isendrecv", "MPI_Isendrecv_replace"}), wildcards{}, thread_safe{}) {
    matched(mpi);
}

// Both sides of one call between two processes: lengths, datatypes and tags of their own.
ASSAY_TEST(p2p, sendrecv_sides, requirements{"p2p.sendrecv.tags", "p2p.sendrecv.types"},
           over(only(calls, [](call c) { return c == call::sendrecv || c == call::isendrecv; }), axis_use{&lengths},
                communicators::few()),
           note{"odd ranks send one int more than even ones, with another tag; pairs of ints are received as ints"},
           thread_safe{}) {
    auto const p = pair_of(mpi);
    if (p.idle) return;
    auto const n = mpi.at(lengths);
    // A ring of odd length has two neighbours of the same kind: who sends what is a matter of the sender alone.
    auto const ints_of = [&](int rank) { return n + static_cast<std::size_t>(rank % 2); };
    int const my_tag = mpi.tag(mpi.rank % 2), their_tag = mpi.tag(p.from % 2);
    auto out = message(mpi.key_to(p.to), ints_of(mpi.rank));
    auto in = room(ints_of(p.from) + 2);
    auto status = poisoned_status();
    MPI_Request request = MPI_REQUEST_NULL;
    auto const send_count = static_cast<int>(out.size()), room_for = static_cast<int>(in.size());
    // The sending side counts ints, the receiving side pairs of them where the number is even.
    MPI_Datatype two = MPI_DATATYPE_NULL;
    mpi.ok(MPI_Type_contiguous(2, MPI_INT, &two));
    mpi.ok(MPI_Type_commit(&two));
    bool const pairs = send_count % 2 == 0;
    auto const type = pairs ? two : MPI_INT;
    auto const count = pairs ? send_count / 2 : send_count;
    if (mpi.at(calls) == call::sendrecv) {
        mpi.ok(MPI_Sendrecv(out.data(), count, type, p.to, my_tag, in.data(), room_for, MPI_INT, p.from, their_tag,
                            mpi.comm, &status));
        expect_status(mpi, status, p.from, their_tag, ints_of(p.from));
    } else {
        mpi.ok(MPI_Isendrecv(out.data(), count, type, p.to, my_tag, in.data(), room_for, MPI_INT, p.from, their_tag,
                             mpi.comm, &request));
        mpi.ok(MPI_Wait(&request, &status));
    }
    expect_message(mpi, in, mpi.key_from(p.from), ints_of(p.from), "with lengths and tags of the sender");
    mpi.ok(MPI_Type_free(&two));
}
