#include "suites/p2p/exchange.hpp"

#include "suites/common/polling.hpp"

#include <fmt/format.h>
#include <map>

namespace assay::p2p {

using kind = enum send_mode::kind;
using start = enum send_mode::start;

axis<send_mode> const& modes() {
    static axis<send_mode> const axis(
        "mode", {{value_info("send", "MPI_Send").in_thesis("Ring"), {kind::standard, start::blocking}},
                 {value_info("bsend", "MPI_Bsend").in_thesis("Ring Bsend"), {kind::buffered, start::blocking}},
                 {value_info("ssend", "MPI_Ssend").in_thesis("Ring Ssend"), {kind::synchronous, start::blocking}},
                 {value_info("rsend", "MPI_Rsend").in_thesis("Ring Rsend"), {kind::ready, start::blocking}},
                 {value_info("isend", "MPI_Isend").in_thesis("Ring Isend"), {kind::standard, start::nonblocking}},
                 {value_info("ibsend", "MPI_Ibsend").in_thesis("Ring Ibsend"), {kind::buffered, start::nonblocking}},
                 {value_info("issend", "MPI_Issend").in_thesis("Ring Issend"), {kind::synchronous, start::nonblocking}},
                 {value_info("irsend", "MPI_Irsend").in_thesis("Ring Irsend"), {kind::ready, start::nonblocking}},
                 {value_info("send_init", "MPI_Send_init").in_thesis("Alltoall-Persistent"),
                  {kind::standard, start::persistent}},
                 {{"bsend_init", "MPI_Bsend_init"}, {kind::buffered, start::persistent}},
                 {{"ssend_init", "MPI_Ssend_init"}, {kind::synchronous, start::persistent}},
                 {{"rsend_init", "MPI_Rsend_init"}, {kind::ready, start::persistent}}});
    return axis;
}

axis<receive_way> const& receives() {
    using way = receive_way;
    static axis<way> const axis(
        "receive", {{value_info("irecv", "MPI_Irecv before the send").in_thesis("Many-to-one"), way::irecv},
                    {{"recv", "MPI_Recv"}, way::recv},
                    {{"recv_init", "MPI_Recv_init, started before the send"}, way::recv_init},
                    {value_info("probe", "MPI_Probe, then MPI_Recv").in_thesis("Many-to-one MPI_Probe"), way::probe},
                    {value_info("iprobe", "MPI_Iprobe until there, then MPI_Recv").in_thesis("Many-to-one MPI_Iprobe"),
                     way::iprobe},
                    {{"mprobe", "MPI_Mprobe, then MPI_Mrecv"}, way::mprobe},
                    {{"improbe", "MPI_Improbe until there, then MPI_Imrecv"}, way::improbe}});
    return axis;
}

bool posted_before_send(receive_way way) { return way == receive_way::irecv || way == receive_way::recv_init; }

axis<wildcard> const& wildcard_axis() {
    static axis<wildcard> const axis(
        "wildcard", {{value_info("none", "source and tag given").in_thesis("Alltoall"), {false, false}},
                     {value_info("source", "MPI_ANY_SOURCE").in_thesis("Alltoall w/ MPI_ANY_SOURCE"), {true, false}},
                     {{"tag", "MPI_ANY_TAG"}, {false, true}},
                     {{"both", "MPI_ANY_SOURCE and MPI_ANY_TAG"}, {true, true}}});
    return axis;
}

pattern ring(test_run const& mpi) {
    return {{(mpi.rank + 1) % mpi.size}, {(mpi.rank - 1 + mpi.size) % mpi.size}, mpi.rank == 0};
}

pattern partner(test_run const& mpi) {
    if (mpi.rank >= mpi.remote_size) return {}; // the larger group's last ranks have none
    return {{mpi.rank}, {mpi.rank}, mpi.side == 0};
}

pattern many_to_one(test_run const& mpi, int messages) {
    pattern p;
    p.sends_first = mpi.side == 0;
    for (int m = 0; m < messages; ++m) {
        // On an intracommunicator the root sends to itself only when it is alone.
        if (mpi.inter || mpi.rank != 0 || mpi.size == 1) p.to.push_back(0);
        if (mpi.rank != 0) continue;
        for (int peer = 0; peer < mpi.peers; ++peer)
            if (mpi.inter || peer != 0 || mpi.size == 1) p.from.push_back(peer);
    }
    return p;
}

pattern all_to_all(test_run const& mpi) {
    pattern p;
    for (int step = 0; step < mpi.peers; ++step) {
        p.to.push_back((mpi.rank + step) % mpi.peers);
        p.from.push_back((mpi.rank - step % mpi.peers + 2 * mpi.peers * mpi.size) % mpi.peers);
    }
    return p;
}

pattern neighbours(test_run const& mpi) {
    pattern p{mpi.comm_entry->destinations(mpi.size, mpi.rank), mpi.comm_entry->sources(mpi.size, mpi.rank), true};
    std::erase(p.to, -1); // MPI_PROC_NULL has a test of its own
    std::erase(p.from, -1);
    return p;
}

constraint sensible_receive() {
    return where(modes(), receives(),
                 [](send_mode const& m, receive_way r) { return m.kind != kind::ready || posted_before_send(r); });
}

constraint sensible_completion() {
    return where(modes(), receives(), completions(), [](send_mode const& m, receive_way r, completion_call const& c) {
        return m.start != start::blocking || posted_before_send(r) || (c.single() && c.waits);
    });
}

constraint blocking_needs_two() {
    return where(
        modes(), receives(), comm_axis(), [](job const& j, send_mode const& m, receive_way r, communicator const& c) {
            return !m.may_block() || posted_before_send(r) || c.kind == comm_kind::inter || smallest_size(c, j.np) >= 2;
        });
}

constraint blocking_needs_post() {
    return where(modes(), receives(),
                 [](send_mode const& m, receive_way r) { return !m.may_block() || posted_before_send(r); });
}

namespace {

// What one end hands to MPI beside the address.
struct message_end {
    layout const& map;
    std::size_t elements;
    int count;
    MPI_Datatype type;
};

message_end end_of(test_run const& mpi, described const* as) {
    if (as == nullptr) return {mpi.map, mpi.elements, mpi.count, mpi.type};
    return {as->map, as->count, as->n(), as->type};
}

int start_send(test_run& mpi, send_mode mode, void* data, message_end const& as, int to, int tag,
               MPI_Request* request) {
    auto const persistent = mode.start == start::persistent;
    if (mode.start == start::blocking) switch (mode.kind) {
        case kind::standard: return MPI_Send(data, as.count, as.type, to, tag, mpi.comm);
        case kind::buffered: return MPI_Bsend(data, as.count, as.type, to, tag, mpi.comm);
        case kind::synchronous: return MPI_Ssend(data, as.count, as.type, to, tag, mpi.comm);
        case kind::ready: return MPI_Rsend(data, as.count, as.type, to, tag, mpi.comm);
        }
    switch (mode.kind) {
    case kind::standard:
        if (persistent) return MPI_Send_init(data, as.count, as.type, to, tag, mpi.comm, request);
        return MPI_Isend(data, as.count, as.type, to, tag, mpi.comm, request);
    case kind::buffered:
        if (persistent) return MPI_Bsend_init(data, as.count, as.type, to, tag, mpi.comm, request);
        return MPI_Ibsend(data, as.count, as.type, to, tag, mpi.comm, request);
    case kind::synchronous:
        if (persistent) return MPI_Ssend_init(data, as.count, as.type, to, tag, mpi.comm, request);
        return MPI_Issend(data, as.count, as.type, to, tag, mpi.comm, request);
    case kind::ready:
        if (persistent) return MPI_Rsend_init(data, as.count, as.type, to, tag, mpi.comm, request);
        return MPI_Irsend(data, as.count, as.type, to, tag, mpi.comm, request);
    }
    return MPI_ERR_INTERN;
}

// The state of one exchange on this rank.
class exchanging {
public:
    exchanging(test_run& mpi, pattern const& who, manner const& how)
        : mpi_(mpi), who_(who), how_(how), sent_(end_of(mpi, how.sent)), received_(end_of(mpi, how.received)) {}

    void run() {
        bool const again = how_.mode.start == start::persistent || how_.receive == receive_way::recv_init;
        rounds_ = again ? 2 : 1; // a persistent request must also work the second time
        if (how_.mode.kind == kind::buffered)
            mpi_.attach_buffer(rounds_ * static_cast<int>(who_.to.size()) * (how_.sent == nullptr ? 1 : 6));
        for (std::size_t i = 0; i < who_.to.size(); ++i) out_.push_back(&buffer_for(sent_));
        for (std::size_t i = 0; i < who_.from.size(); ++i) in_.push_back(&buffer_for(received_));
        receive_.assign(who_.from.size(), MPI_REQUEST_NULL);
        send_.assign(who_.to.size(), MPI_REQUEST_NULL);
        prepare();
        for (int r = 0; r < rounds_; ++r) round(r);
        release();
    }

private:
    buffer& buffer_for(message_end const& end) {
        return &end.map == &mpi_.map ? mpi_.unfilled(end.elements) : mpi_.bytes(end.map, end.elements);
    }
    int from(std::size_t i) const { return who_.from[i] < 0 ? MPI_PROC_NULL : who_.from[i]; }
    int to(std::size_t i) const { return who_.to[i] < 0 ? MPI_PROC_NULL : who_.to[i]; }
    int source(std::size_t i) const { return how_.any.source && from(i) != MPI_PROC_NULL ? MPI_ANY_SOURCE : from(i); }
    int wanted_tag() { return how_.any.tag ? MPI_ANY_TAG : mpi_.tag(0); }

    // The key of the n-th message between two ranks in a round.
    std::uint64_t key(bool sending, int peer, int nth, int r) const {
        if (how_.same_value) return mpi_.key(0, 0, 0, 0, r);
        return sending ? mpi_.key_to(peer, r * 1000 + nth) : mpi_.key_from(peer, r * 1000 + nth);
    }

    void prepare() {
        if (how_.receive == receive_way::recv_init)
            for (std::size_t i = 0; i < in_.size(); ++i)
                mpi_.ok(MPI_Recv_init(*in_[i], received_.count, received_.type, source(i), wanted_tag(), mpi_.comm,
                                      &receive_[i]));
        if (how_.mode.start == start::persistent)
            for (std::size_t i = 0; i < out_.size(); ++i)
                mpi_.ok(start_send(mpi_, how_.mode, *out_[i], sent_, to(i), mpi_.tag(0), &send_[i]));
    }

    void release() {
        if (how_.receive == receive_way::recv_init) free_all(receive_);
        if (how_.mode.start == start::persistent) free_all(send_);
    }
    void free_all(std::vector<MPI_Request>& requests) {
        for (auto& request : requests) {
            if (request == MPI_REQUEST_NULL) continue;
            mpi_.ok(MPI_Request_free(&request));
            mpi_.check_null(request);
        }
    }

    void round(int r) {
        // A receive from MPI_ANY_SOURCE must not take what a fast sender sends in its next round: that of a slow one, who
        // may wait for it in a send, would find no receive.
        if (r > 0 && how_.any.source) mpi_.ok(MPI_Barrier(mpi_.comm));
        std::map<int, int> sent;
        for (std::size_t i = 0; i < out_.size(); ++i) out_[i]->fill(key(true, to(i), sent[to(i)]++, r));
        for (auto* b : in_) b->poison();
        statuses_.assign(in_.size(), poisoned_status());
        bool const posted = posted_before_send(how_.receive);
        if (posted) post();
        if (how_.mode.kind == kind::ready) tell_ready();
        bool const late_first = !posted && how_.mode.may_block() && !who_.sends_first;
        if (late_first) receive_late();
        send();
        if (!posted && !late_first) receive_late();
        finish(posted);
        judge(r);
    }

    void post() {
        if (how_.receive == receive_way::recv_init) {
            std::vector<int> sources;
            for (std::size_t i = 0; i < receive_.size(); ++i) sources.push_back(source(i));
            start_all(receive_, sources);
            return;
        }
        for (std::size_t i = 0; i < in_.size(); ++i)
            mpi_.ok(
                MPI_Irecv(*in_[i], received_.count, received_.type, source(i), wanted_tag(), mpi_.comm, &receive_[i]));
    }

    // MPI_Startall starts its requests in an arbitrary order (section 3.9), and only their order tells messages between the same
    // two processes apart (section 3.5). So it gets the first request of each peer, then the second of each, and so on. A single
    // request is started by MPI_Start.
    void start_all(std::vector<MPI_Request>& requests, std::vector<int> const& peers) {
        std::map<int, std::size_t> before; // requests of the same peer
        std::vector<std::vector<std::size_t>> turns;
        for (std::size_t i = 0; i < requests.size(); ++i) {
            std::size_t const turn = peers[i] == MPI_PROC_NULL ? 0 : before[peers[i]]++;
            if (turns.size() <= turn) turns.resize(turn + 1);
            turns[turn].push_back(i);
        }
        for (auto const& turn : turns) {
            std::vector<MPI_Request> some;
            for (auto const i : turn) some.push_back(requests[i]);
            if (some.size() == 1) mpi_.ok(MPI_Start(some.data()));
            else mpi_.ok(MPI_Startall(static_cast<int>(some.size()), some.data()));
            for (std::size_t k = 0; k < turn.size(); ++k) requests[turn[k]] = some[k];
        }
    }

    // A ready send may start only when its receive is posted: the receiver says so by an empty message. It has the
    // communicator to itself in time, so it goes by the tag alone; wildcard receives must not take it, which is why
    // ready sends and MPI_ANY_TAG do not meet.
    void tell_ready() {
        std::vector<MPI_Request> tokens;
        for (std::size_t i = 0; i < in_.size(); ++i)
            if (from(i) != MPI_PROC_NULL)
                mpi_.ok(MPI_Isend(nullptr, 0, MPI_BYTE, from(i), mpi_.tag(1), mpi_.comm, &tokens.emplace_back()));
        for (std::size_t i = 0; i < out_.size(); ++i)
            if (to(i) != MPI_PROC_NULL)
                mpi_.ok(MPI_Recv(nullptr, 0, MPI_BYTE, to(i), mpi_.tag(1), mpi_.comm, MPI_STATUS_IGNORE));
        mpi_.ok(MPI_Waitall(static_cast<int>(tokens.size()), tokens.data(), MPI_STATUSES_IGNORE));
    }

    void send() {
        if (how_.mode.start == start::persistent) {
            std::vector<int> destinations;
            for (std::size_t i = 0; i < send_.size(); ++i) destinations.push_back(to(i));
            start_all(send_, destinations);
            return;
        }
        for (std::size_t i = 0; i < out_.size(); ++i)
            mpi_.ok(start_send(mpi_, how_.mode, *out_[i], sent_, to(i), mpi_.tag(0), &send_[i]));
    }

    void receive_late() {
        for (std::size_t i = 0; i < in_.size(); ++i) receive_one(i);
    }

    void receive_one(std::size_t i) {
        auto& status = statuses_[i];
        int from_rank = source(i), tag = wanted_tag();
        MPI_Message message = MPI_MESSAGE_NULL;
        auto seen = poisoned_status();
        int flag = 0;
        switch (how_.receive) {
        case receive_way::probe: mpi_.ok(MPI_Probe(from_rank, tag, mpi_.comm, &seen)); break;
        case receive_way::iprobe:
            while (mpi_.ok(MPI_Iprobe(from_rank, tag, mpi_.comm, &flag, &seen)) && flag == 0) let_others_run();
            break;
        case receive_way::mprobe: mpi_.ok(MPI_Mprobe(from_rank, tag, mpi_.comm, &message, &seen)); break;
        case receive_way::improbe:
            while (mpi_.ok(MPI_Improbe(from_rank, tag, mpi_.comm, &flag, &message, &seen)) && flag == 0)
                let_others_run();
            break;
        default: break;
        }
        switch (how_.receive) {
        case receive_way::probe:
        case receive_way::iprobe:
            judge_status(i, seen, true);
            // Receive exactly what was seen.
            mpi_.ok(MPI_Recv(*in_[i], received_.count, received_.type, seen.MPI_SOURCE,
                             from(i) == MPI_PROC_NULL ? tag : seen.MPI_TAG, mpi_.comm, &status));
            mpi_.check(
                status.MPI_SOURCE == seen.MPI_SOURCE, finding::source,
                fmt::format("probed a message from {}, received one from {}", seen.MPI_SOURCE, status.MPI_SOURCE));
            break;
        case receive_way::mprobe:
        case receive_way::improbe:
            judge_status(i, seen, true);
            if (how_.receive == receive_way::mprobe) {
                mpi_.ok(MPI_Mrecv(*in_[i], received_.count, received_.type, &message, &status));
            } else {
                MPI_Request request = MPI_REQUEST_NULL;
                mpi_.ok(MPI_Imrecv(*in_[i], received_.count, received_.type, &message, &request));
                mpi_.ok(MPI_Wait(&request, &status));
                mpi_.check_null(request);
            }
            mpi_.check(message == MPI_MESSAGE_NULL, finding::request,
                       "a received message handle must have become MPI_MESSAGE_NULL");
            mpi_.check(
                status.MPI_SOURCE == seen.MPI_SOURCE, finding::source,
                fmt::format("probed a message from {}, received one from {}", seen.MPI_SOURCE, status.MPI_SOURCE));
            break;
        default: mpi_.ok(MPI_Recv(*in_[i], received_.count, received_.type, from_rank, tag, mpi_.comm, &status)); break;
        }
    }

    // All requests together, receives first: completion calls see arrays of both.
    void finish(bool posted) {
        std::vector<MPI_Request> requests;
        std::vector<bool> persistent;
        if (posted)
            for (auto request : receive_) {
                requests.push_back(request);
                persistent.push_back(how_.receive == receive_way::recv_init);
            }
        if (how_.mode.start != start::blocking)
            for (auto request : send_) {
                requests.push_back(request);
                persistent.push_back(how_.mode.start == start::persistent);
            }
        auto const statuses = complete(mpi_, how_.completion, requests, {.persistent = std::move(persistent)});
        std::size_t next = 0;
        if (posted)
            for (std::size_t i = 0; i < receive_.size(); ++i, ++next) {
                receive_[i] = requests[next];
                statuses_[i] = statuses[next];
            }
        if (how_.mode.start != start::blocking)
            for (std::size_t i = 0; i < send_.size(); ++i, ++next) {
                send_[i] = requests[next];
                mpi_.expect(statuses[next]).not_cancelled();
            }
    }

    void judge_status(std::size_t i, MPI_Status const& status, bool by_probe = false) {
        bool const null = from(i) == MPI_PROC_NULL; // section 3.10
        auto check = mpi_.expect(status);
        if (null) check.source(MPI_PROC_NULL).tag(MPI_ANY_TAG).count(0, received_.type, received_.map.size());
        else check.tag(mpi_.tag(0)).count(received_.elements, received_.type, received_.map.size());
        if (!null && !how_.any.source) check.source(from(i));
        if (!by_probe) check.not_cancelled();
    }

    // Messages of one sender keep their order (section 3.5).
    void judge(int r) {
        std::map<int, int> expected, got; // by sender
        for (std::size_t i = 0; i < in_.size(); ++i) ++expected[from(i)];
        for (std::size_t i = 0; i < in_.size(); ++i) {
            judge_status(i, statuses_[i]);
            if (from(i) == MPI_PROC_NULL) {
                in_[i]->expect_untouched();
                continue;
            }
            int const peer = how_.any.source ? statuses_[i].MPI_SOURCE : from(i), nth = got[peer]++;
            if (!mpi_.check(nth < expected[peer], finding::source,
                            fmt::format("message {} from rank {}, which sent only {}", nth + 1, peer, expected[peer])))
                continue;
            in_[i]->expect(key(false, peer, nth, r), received_.elements,
                           fmt::format("of message {} from rank {}", nth + 1, peer));
        }
        for (auto* b : out_) b->expect_unchanged();
    }

    test_run& mpi_;
    pattern const& who_;
    manner const& how_;
    message_end const sent_, received_;
    std::vector<buffer*> out_, in_;
    std::vector<MPI_Request> send_, receive_;
    std::vector<MPI_Status> statuses_;
    int rounds_ = 1;
};

} // namespace

void exchange(test_run& mpi, pattern const& who, manner const& how) { exchanging(mpi, who, how).run(); }

} // namespace assay::p2p
