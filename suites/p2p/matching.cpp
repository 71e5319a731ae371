// Datatypes that differ on the two sides (MPI-5.0 section 3.3.1), senders that compete for a receive from anybody (3.5),
// statuses that nobody wants (3.2.6), counts of datatypes without data (3.2.5).
#include "suites/p2p/pair.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>

using namespace assay;
using namespace assay::p2p;

namespace {

// Only ints, wherever they lie.
bool of_ints(datatype const& t) {
    auto const& runs = t.map.runs();
    return !runs.empty() &&
           std::all_of(runs.begin(), runs.end(), [](typemap_run const& r) { return r.type->name == "int"; });
}
layout const& int_layout() {
    auto const& all = all_datatypes();
    return std::find_if(all.begin(), all.end(), [](datatype const& t) { return t.name == "int"; })->map;
}

enum class side { sender, receiver };
axis<side> const derived_sides("derived", {{{"sender", "sent as this datatype, received as ints"}, side::sender},
                                           {{"receiver", "sent as ints, received as this datatype"}, side::receiver}});

} // namespace

// What matches is the sequence of basic types, not how it is described.
ASSAY_TEST(p2p, signature, requirements{"p2p.types.signature"},
           over(axis_use{&derived_sides}, communicators::few(), only(type_axis(), of_ints), counts::ladder()),
           fits_memory(false), thread_safe{}) {
    auto const p = pair_of(mpi);
    if (p.idle) return;
    bool const sends = mpi.at(derived_sides) == side::sender;
    auto const ints = mpi.elements * mpi.map.elements();
    auto& plain = mpi.bytes(int_layout(), ints);
    auto& derived = mpi.incoming();
    auto &out = sends ? derived : plain, &in = sends ? plain : derived;
    out.fill(mpi.key_to(p.to));
    int const plain_count = static_cast<int>(ints);
    MPI_Request send = MPI_REQUEST_NULL;
    auto status = poisoned_status();
    mpi.ok(
        MPI_Isend(out, sends ? mpi.count : plain_count, sends ? mpi.type : MPI_INT, p.to, mpi.tag(), mpi.comm, &send));
    mpi.ok(MPI_Recv(in, sends ? plain_count : mpi.count, sends ? MPI_INT : mpi.type, p.from, mpi.tag(), mpi.comm,
                    &status));
    mpi.ok(MPI_Wait(&send, MPI_STATUS_IGNORE));
    mpi.expect(status).source(p.from).tag(mpi.tag()).count(ints, MPI_INT, sizeof(int)).count(mpi.elements);
    in.expect(mpi.key_from(p.from), sends ? ints : mpi.elements, fmt::format("from rank {}", p.from));
    out.expect_unchanged();
}

namespace {
axis<bool> const announcing("receive", {{{"recv", "MPI_Recv from MPI_ANY_SOURCE"}, false},
                                        {{"mprobe", "MPI_Mprobe of MPI_ANY_SOURCE, MPI_Mrecv"}, true}});
} // namespace

// Everybody sends hundreds of messages to rank 0, which takes them from anybody: those of each sender in their order.
ASSAY_TEST(p2p, many_senders, requirements{"p2p.order.per_sender", "p2p.wildcard.source"},
           over(axis_use{&announcing}, communicators::few()), wildcards{},
           note{"400 messages of each process, of 0 to 2,000 ints"}, thread_safe{}) {
    constexpr int each = 400;
    auto const length = [](int i) { return static_cast<std::size_t>(i % 13 == 7 ? 2000 : i % 5); };
    std::vector<std::vector<int>> out;
    std::vector<MPI_Request> sends;
    for (int i = 0; i < each; ++i) {
        out.push_back(message(mpi.key_to(0, i), length(i)));
        sends.push_back(MPI_REQUEST_NULL);
        mpi.ok(
            MPI_Isend(out.back().data(), static_cast<int>(length(i)), MPI_INT, 0, mpi.tag(), mpi.comm, &sends.back()));
    }
    if (mpi.rank == 0) {
        std::vector<int> next(static_cast<std::size_t>(mpi.peers), 0), in = room(2000);
        for (int i = 0; i < each * mpi.peers; ++i) {
            auto status = poisoned_status();
            if (mpi.at(announcing)) {
                MPI_Message handle = MPI_MESSAGE_NULL;
                mpi.ok(MPI_Mprobe(MPI_ANY_SOURCE, mpi.tag(), mpi.comm, &handle, MPI_STATUS_IGNORE));
                mpi.ok(MPI_Mrecv(in.data(), 2000, MPI_INT, &handle, &status));
            } else {
                mpi.ok(MPI_Recv(in.data(), 2000, MPI_INT, MPI_ANY_SOURCE, mpi.tag(), mpi.comm, &status));
            }
            int const from = status.MPI_SOURCE;
            int got = -7;
            if (!mpi.check(from >= 0 && from < mpi.peers, finding::source, fmt::format("source is {}", from))) continue;
            int const serial = next[static_cast<std::size_t>(from)]++;
            mpi.ok(MPI_Get_count(&status, MPI_INT, &got));
            auto const expected = message(mpi.key_from(from, serial), length(serial));
            mpi.check(
                got == static_cast<int>(expected.size()) && std::equal(expected.begin(), expected.end(), in.begin()),
                finding::data,
                fmt::format("what rank {} sent as message {} does not come as message {} of it", from, serial, serial));
        }
        for (std::size_t r = 0; r < next.size(); ++r)
            mpi.check(next[r] == each, finding::source,
                      fmt::format("{} messages of rank {}, expected {}", next[r], r, each));
    }
    mpi.ok(MPI_Waitall(each, sends.data(), MPI_STATUSES_IGNORE));
}

namespace {
enum class call { recv, probe, iprobe, mprobe, improbe, mrecv, sendrecv, replace };
axis<call> const calls("call", {{{"recv", "MPI_Recv"}, call::recv},
                                {{"probe", "MPI_Probe"}, call::probe},
                                {{"iprobe", "MPI_Iprobe"}, call::iprobe},
                                {{"mprobe", "MPI_Mprobe"}, call::mprobe},
                                {{"improbe", "MPI_Improbe"}, call::improbe},
                                {{"mrecv", "MPI_Mrecv"}, call::mrecv},
                                {{"sendrecv", "MPI_Sendrecv"}, call::sendrecv},
                                {{"sendrecv_replace", "MPI_Sendrecv_replace"}, call::replace}});
} // namespace

ASSAY_TEST(p2p, ignored_status, requirements{"p2p.status.ignore"}, over(axis_use{&calls}, communicators::few()),
           thread_safe{}) {
    auto const c = mpi.at(calls);
    auto const p = pair_of(mpi);
    if (p.idle) return;
    auto out = message(mpi.key_to(p.to), 6), in = room(6);
    MPI_Request send = MPI_REQUEST_NULL;
    MPI_Message handle = MPI_MESSAGE_NULL;
    auto* const none = MPI_STATUS_IGNORE;
    int const tag = mpi.tag();
    if (c == call::sendrecv) {
        mpi.ok(MPI_Sendrecv(out.data(), 6, MPI_INT, p.to, tag, in.data(), 6, MPI_INT, p.from, tag, mpi.comm, none));
    } else if (c == call::replace) {
        in = out;
        mpi.ok(MPI_Sendrecv_replace(in.data(), 6, MPI_INT, p.to, tag, p.from, tag, mpi.comm, none));
    } else {
        mpi.ok(MPI_Isend(out.data(), 6, MPI_INT, p.to, tag, mpi.comm, &send));
        int flag = 0;
        switch (c) {
        case call::probe: mpi.ok(MPI_Probe(p.from, tag, mpi.comm, none)); break;
        case call::iprobe:
            until([&] { return !mpi.ok(MPI_Iprobe(p.from, tag, mpi.comm, &flag, none)) || flag != 0; });
            break;
        case call::improbe:
            until([&] { return !mpi.ok(MPI_Improbe(p.from, tag, mpi.comm, &flag, &handle, none)) || flag != 0; });
            break;
        case call::mprobe:
        case call::mrecv: mpi.ok(MPI_Mprobe(p.from, tag, mpi.comm, &handle, none)); break;
        default: break;
        }
        mpi.ok(handle == MPI_MESSAGE_NULL ? MPI_Recv(in.data(), 6, MPI_INT, p.from, tag, mpi.comm, none)
                                          : MPI_Mrecv(in.data(), 6, MPI_INT, &handle, none));
        mpi.ok(MPI_Wait(&send, none));
    }
    expect_message(mpi, in, mpi.key_from(p.from), 6, "with an ignored status");
}

namespace {
axis<int> const bytes("bytes", {{{"0", "an empty message"}, 0}, {{"8", "eight bytes"}, 8}});
} // namespace

ASSAY_TEST(p2p, get_count_no_data, requirements{"p2p.status.get_count_no_data"},
           over(axis_use{&bytes}, communicators::few()), thread_safe{}) {
    auto const p = pair_of(mpi);
    if (p.idle) return;
    int const n = mpi.at(bytes);
    auto out = message(mpi.key_to(p.to), 2), in = room(2);
    MPI_Datatype none = MPI_DATATYPE_NULL;
    mpi.ok(MPI_Type_contiguous(0, MPI_INT, &none));
    mpi.ok(MPI_Type_commit(&none));
    auto status = poisoned_status();
    mpi.ok(MPI_Sendrecv(out.data(), n, MPI_BYTE, p.to, mpi.tag(), in.data(), 8, MPI_BYTE, p.from, mpi.tag(), mpi.comm,
                        &status));
    int const expected = n == 0 ? 0 : MPI_UNDEFINED;
    int got = -7;
    mpi.ok(MPI_Get_count(&status, none, &got));
    mpi.check(got == expected, finding::count,
              fmt::format("MPI_Get_count with a datatype without data gives {} for {} bytes, expected {}", got, n,
                          n == 0 ? "0" : "MPI_UNDEFINED"));
    mpi.ok(MPI_Type_free(&none));
    expect_message(mpi, in, mpi.key_from(p.from), static_cast<std::size_t>(n) / 4, "bytes");
}
