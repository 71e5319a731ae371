// Several connections to a peer. One alone carries no more than a window in a round trip, and waits for each packet that is lost; so a
// frame is cut into fragments, and each goes to the next connection that has room. All of them are one sequence of numbered
// frames again at the receiver.
//
// A peer's connections are peers of connections.hpp: its name, followed by the number of the stream. A fragment is one of
// their frames: its head is a `front`, and before the first bytes of a payload stands the head of the frame itself.
#include "transports/net/fault.hpp"
#include "transports/net/linger.hpp"
#include "transports/net/pieces.hpp"
#include "transports/tcp/connections.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <deque>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

namespace assay::tcp {
namespace {

using net::address;
using net::memory;
using net::peer;

constexpr std::size_t fragment_size = 128 * 1024;
constexpr std::size_t first_size = 8 * 1024; // the first fragment is copied at the receiver, so it is short
// Of what came before its turn, with so much for the record of each fragment: connections that bring more are read later.
constexpr std::uint64_t most_held = 4 * 1024 * 1024, record_size = 256;
constexpr int last_looks = 1000; // for what else came from a peer that has closed one of its connections

struct front {
    std::uint32_t number = 0; // of the frame
    std::uint32_t unused = 0;
    std::uint64_t size = 0; // of its whole payload
    std::uint64_t from = 0; // where in it this fragment begins; at 0 the head of the frame comes first
};
static_assert(sizeof(front) <= net::head_size);

using head_bytes = std::array<std::byte, net::head_size>;

// A frame on its way out.
struct departing {
    departing(std::uint32_t as, void const* with, std::span<iovec const> payload)
        : number(as), pieces(payload.begin(), payload.end()) {
        std::memcpy(head.data(), with, head.size());
        for (auto const& one : pieces) size += one.iov_len;
    }
    // Keeps a copy of the payload, so that the memory it came from is free.
    void own() {
        copy = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(size));
        net::outgoing(pieces).take(copy.get(), static_cast<std::size_t>(size));
        pieces.assign(1, {copy.get(), static_cast<std::size_t>(size)});
    }
    bool all_given() const { return begun && given == size; }
    bool done() const { return all_given() && flying == 0; }

    std::uint32_t number;
    head_bytes head;
    std::vector<iovec> pieces;
    std::unique_ptr<std::byte[]> copy;
    std::uint64_t size = 0, given = 0; // to the connections
    bool begun = false;                // the first fragment is given
    unsigned flying = 0;               // fragments that have not been sent completely
    void* token = nullptr;
    bool stuck = false; // a fragment of it cannot be sent: its token is among those that failed
};

// A fragment of it that a connection has not sent completely.
struct flight {
    std::shared_ptr<departing> of;
    peer to;
    unsigned stream;
    std::size_t number = 0; // in flights_
};

// A fragment on its way in.
struct fragment {
    peer from;
    front what;
    std::size_t size;                  // of the payload, with a head before it
    std::unique_ptr<std::byte[]> held; // null: it goes to its place
};

// A frame on its way in.
struct arriving {
    head_bytes head;
    std::uint64_t size = 0, received = 0;
    bool known = false; // its first fragment has come
    bool begun = false; // its place is known
    void* token = nullptr;
    std::vector<iovec> places;
    std::vector<std::unique_ptr<fragment>> held; // that came before its place was known
    std::vector<fragment*> direct;               // that are coming to their places
};

class streams_wire final : public net::wire, net::sink {
public:
    streams_wire(net::sink& to, options const& how)
        : sink_(to), count_(how.streams), inner_(make_connections(*this, how, 1)) {}
    ~streams_wire() override;
    streams_wire(streams_wire const&) = delete;
    streams_wire& operator=(streams_wire const&) = delete;

    address listen(address const& where) override { return inner_->listen(where); }
    peer reach(address const& where) override;
    address const& address_of(peer who) const override { return *peers_[who].where; }
    bool ready(peer to) override;
    bool send(peer to, void const* head, std::span<iovec const> payload, net::flow const& where, memory how,
              void* token) override;
    void withdraw(void* token) override;
    void keep(void* token) override;
    void give_up(peer which, int error) override {
        for (auto const one : peers_[which].inner) inner_->give_up(one, error);
        end(which, error);
    }
    bool poll() override;
    int wait_fd() const override { return inner_->wait_fd(); }
    bool flush(std::chrono::milliseconds limit) override;
    std::uint64_t backlog(peer to) const override;
    net::counters const& counted() const override;

private:
    struct state {
        std::vector<bool> busy;                         // streams that have not sent a fragment completely
        unsigned next_stream = 0;                       // to look at
        std::uint32_t next_out = 0, next_in = 0;        // numbers of frames
        std::deque<std::shared_ptr<departing>> leaving; // with fragments that are not given to a connection
        std::vector<void*> failed;                      // tokens of frames that got stuck
        std::unordered_map<std::uint32_t, arriving> coming;
        std::uint64_t held = 0;   // bytes of these that came before their turn
        std::vector<peer> paused; // connections that are not read until some of it has had its turn
        bool ending = false;
        int error = 0; // why
    };
    struct peer_state : state {
        address const* where = nullptr; // the key in by_address_
        std::vector<peer> inner;        // its connections
    };

    // Of the connections.
    net::destination begun(peer from, std::byte const* head, std::uint64_t size) override;
    void arrived(peer from, void* token) override;
    void lost(void* token) override;
    void sent(void* token) override;
    void failed(void* token, int error) override;
    void closed(peer which, int error) override;

    bool belongs(peer inner, peer& to);
    bool connected(peer_state const& to) const {
        return std::any_of(to.inner.begin(), to.inner.end(), [&](peer one) { return inner_->has(one); });
    }
    state fresh() const {
        state made;
        made.busy.assign(count_, false);
        return made;
    }
    unsigned pick(peer_state& to) const;
    bool give(peer to, unsigned stream, std::shared_ptr<departing> const& it, memory how);
    std::unique_ptr<flight> landed(void* token);
    void pump(peer to);
    bool settle(peer from, std::uint32_t number);
    void end(peer which, int error);
    void finish(peer which);
    void report(state const& old, int error);

    net::sink& sink_;
    unsigned count_;
    std::deque<peer_state> peers_; // stays where it is while it grows
    std::unordered_map<address, peer> by_address_;
    std::unordered_map<peer, peer> outer_; // whose a connection is
    std::vector<peer> ending_;             // to be reported
    std::vector<flight*> flights_;         // fragments that the connections have not sent completely
    std::vector<iovec> pieces_;
    std::uint64_t frames_sent_ = 0, frames_received_ = 0, held_ = 0;
    mutable net::counters counted_;
    std::unique_ptr<connections> inner_; // the last one: it reports until it is gone
};

streams_wire::~streams_wire() {
    inner_.reset();
    for (auto& one : peers_) report(std::exchange<state>(one, fresh()), ECANCELED);
}

peer streams_wire::reach(address const& where) {
    auto const [at, added] = by_address_.try_emplace(where, static_cast<peer>(peers_.size()));
    if (!added) return at->second;
    auto& one = peers_.emplace_back(peer_state{fresh(), &at->first, {}});
    for (unsigned k = 0; k < count_; ++k) {
        one.inner.push_back(inner_->reach(where + static_cast<char>(k)));
        outer_.emplace(one.inner.back(), at->second);
    }
    return at->second;
}

// Whose connection it is. False: it says that it is a stream which does not exist.
bool streams_wire::belongs(peer inner, peer& to) {
    auto at = outer_.find(inner);
    if (at == outer_.end()) {
        auto const& name = inner_->address_of(inner);
        if (static_cast<unsigned char>(name.back()) >= count_) return false;
        reach(name.substr(0, name.size() - 1));
        at = outer_.find(inner);
    }
    to = at->second;
    return true;
}

bool streams_wire::ready(peer to) {
    auto const& about = peers_[to];
    bool const some = connected(about); // then the other side has made them, and the rest may still come
    bool all = true;
    for (auto const one : about.inner)
        if (!some || inner_->has(one)) all = inner_->ready(one) && all;
    return all;
}

// ---- out ----

// The next stream that has room; count_: none.
unsigned streams_wire::pick(peer_state& to) const {
    bool const some = connected(to);
    for (unsigned k = 0; k < count_; ++k) {
        auto const stream = (to.next_stream + k) % count_;
        if (to.busy[stream] || (some && !inner_->has(to.inner[stream]))) continue;
        to.next_stream = (stream + 1) % count_;
        return stream;
    }
    return count_;
}

bool streams_wire::send(peer to, void const* head, std::span<iovec const> payload, net::flow const&, memory how,
                        void* token) {
    auto& about = peers_[to];
    ++frames_sent_;
    if (!connected(about))
        for (auto const one : about.inner) inner_->call(one);
    auto const it = std::make_shared<departing>(about.next_out++, head, payload);
    bool const waits = !about.leaving.empty();
    if (how == memory::copy && !waits && it->size <= first_size)
        if (auto const stream = pick(about); stream < count_) return give(to, stream, it, how);
    if (how == memory::copy) it->own();
    about.leaving.push_back(it);
    if (!waits) pump(to);
    if (how == memory::copy || it->done()) return true;
    it->token = token;
    return false;
}

// The next fragment, to a connection. Returns whether the memory is free.
bool streams_wire::give(peer to, unsigned stream, std::shared_ptr<departing> const& it, memory how) {
    front const what{it->number, 0, it->size, it->given};
    head_bytes head{};
    std::memcpy(head.data(), &what, sizeof what);
    auto const part = std::min<std::uint64_t>(it->size - it->given, it->begun ? fragment_size : first_size);
    pieces_.clear();
    if (!it->begun) pieces_.push_back({it->head.data(), it->head.size()});
    net::slice(it->pieces, it->given, part, pieces_);
    it->begun = true;
    it->given += part;
    auto flying = how == memory::copy ? nullptr : std::make_unique<flight>(flight{it, to, stream});
    if (inner_->send(peers_[to].inner[stream], head.data(), pieces_, {}, how, flying.get())) return true;
    peers_[to].busy[stream] = true;
    ++it->flying;
    flying->number = flights_.size();
    flights_.push_back(flying.release()); // it comes back as the token of what was sent
    return false;
}

void streams_wire::pump(peer to) {
    auto& about = peers_[to];
    while (!about.leaving.empty()) {
        auto const stream = pick(about);
        if (stream == count_) return;
        auto const it = about.leaving.front();
        give(to, stream, it, memory::borrow);
        if (!it->all_given()) continue;
        about.leaving.pop_front();
        if (void* const token = it->done() && !it->stuck ? std::exchange(it->token, nullptr) : nullptr)
            sink_.sent(token);
    }
}

std::unique_ptr<flight> streams_wire::landed(void* token) {
    std::unique_ptr<flight> it(static_cast<flight*>(token));
    flights_[it->number] = flights_.back();
    flights_[it->number]->number = it->number;
    flights_.pop_back();
    return it;
}

void streams_wire::keep(void* token) {
    for (auto const& about : peers_)
        for (auto const& one : about.leaving)
            if (one->token == token && !one->copy) one->own();
    for (auto* const it : flights_) // its connection still uses the memory that it was given
        if (it->of->token == token) inner_->keep(it);
}

void streams_wire::sent(void* token) {
    auto const it = landed(token);
    auto& frame = *it->of;
    --frame.flying;
    peers_[it->to].busy[it->stream] = false;
    pump(it->to);
    if (void* const done = frame.done() && !frame.stuck ? std::exchange(frame.token, nullptr) : nullptr)
        sink_.sent(done);
}

void streams_wire::failed(void* token, int error) {
    auto const it = landed(token);
    auto& about = peers_[it->to];
    --it->of->flying;
    if (it->of->token && !std::exchange(it->of->stuck, true)) about.failed.push_back(it->of->token);
    end(it->to, error);
}

// ---- in ----

net::destination streams_wire::begun(peer from, std::byte const* head, std::uint64_t size) {
    peer who = 0;
    if (!belongs(from, who)) return {};
    auto& about = peers_[who];
    front what;
    std::memcpy(&what, head, sizeof what);
    bool const first = what.from == 0;
    auto const before = first ? net::head_size : 0;
    bool const passed = static_cast<std::int32_t>(what.number - about.next_in) < 0;
    if (passed || size < before || size > before + fragment_size || what.from > what.size ||
        size - before > what.size - what.from) {
        end(who, EPROTO);
        return {};
    }
    auto const [at, fresh] = about.coming.try_emplace(what.number);
    auto& frame = at->second;
    if (fresh && what.number != about.next_in) ++held_;
    auto it = std::make_unique<fragment>(fragment{who, what, static_cast<std::size_t>(size), nullptr});
    pieces_.clear();
    if (frame.begun && !first && what.size == frame.size) {
        net::slice(frame.places, what.from, size, pieces_);
        frame.direct.push_back(it.get());
    } else {
        it->held = std::make_unique_for_overwrite<std::byte[]>(it->size);
        pieces_.push_back({it->held.get(), it->size});
    }
    return {pieces_, it.release()};
}

void streams_wire::arrived(peer over, void* token) {
    if (!token) return; // of a fragment that is none
    std::unique_ptr<fragment> it(static_cast<fragment*>(token));
    auto const from = it->from;
    auto const number = it->what.number;
    auto& about = peers_[from];
    auto const at = about.coming.find(number);
    if (at == about.coming.end()) return end(from, EPROTO); // complete without this one
    auto& frame = at->second;
    if (!it->held) {
        std::erase(frame.direct, it.get());
        frame.received += it->size;
    } else {
        if (it->what.from == 0) {
            if (frame.known) return end(from, EPROTO);
            frame.known = true;
            frame.size = it->what.size;
            std::memcpy(frame.head.data(), it->held.get(), frame.head.size());
        }
        about.held += it->size + record_size;
        frame.held.push_back(std::move(it));
    }
    auto const held = about.held;
    if (net::planted(fault::overtaking)) settle(from, number);
    else
        while (settle(from, about.next_in)) ++about.next_in;
    // Each connection brings fragments in their order: what is waited for is never behind one that was taken too early.
    if (about.held < held)
        for (auto const one : std::exchange(about.paused, {})) inner_->pause(one, false);
    else if (about.held > most_held && !about.ending) {
        inner_->pause(over, true);
        about.paused.push_back(over);
    }
}

// Goes on with a frame whose turn it is. Returns whether it has ended.
bool streams_wire::settle(peer from, std::uint32_t number) {
    auto const at = peers_[from].coming.find(number);
    if (at == peers_[from].coming.end() || !at->second.known) return false;
    auto& frame = at->second;
    if (!frame.begun) {
        ++frames_received_;
        auto const placed = sink_.begun(from, frame.head.data(), frame.size);
        frame.token = placed.token;
        frame.places.assign(placed.places.begin(), placed.places.end());
        frame.begun = true;
    }
    for (auto const& one : frame.held) {
        auto const before = one->what.from == 0 ? net::head_size : 0;
        if (one->what.size != frame.size) {
            end(from, EPROTO);
            return false;
        }
        std::vector<iovec> places;
        net::slice(frame.places, one->what.from, one->size - before, places);
        auto const* data = one->held.get() + before;
        for (auto const& place : places) {
            std::memcpy(place.iov_base, data, place.iov_len);
            data += place.iov_len;
        }
        frame.received += one->size - before;
        peers_[from].held -= one->size + record_size;
    }
    frame.held.clear();
    if (frame.received > frame.size) end(from, EPROTO);
    if (frame.received != frame.size || !frame.direct.empty()) return false;
    void* const token = frame.token;
    peers_[from].coming.erase(number);
    sink_.arrived(from, token);
    return true;
}

void streams_wire::lost(void* token) {
    std::unique_ptr<fragment> const it(static_cast<fragment*>(token));
    if (!it || it->held) return;
    auto& coming = peers_[it->from].coming;
    if (auto const at = coming.find(it->what.number); at != coming.end()) std::erase(at->second.direct, it.get());
}

void streams_wire::withdraw(void* token) {
    for (auto& about : peers_)
        for (auto& [number, one] : about.coming) {
            if (!one.begun || one.token != token) continue;
            one.places.clear();
            for (auto* const it : one.direct) inner_->withdraw(it);
        }
}

// ---- the end of a peer ----

void streams_wire::closed(peer which, int error) {
    if (peer who = 0; belongs(which, who)) end(who, error);
}

// Without one of its connections there is no order any more: they end together.
void streams_wire::end(peer which, int error) {
    auto& about = peers_[which];
    if (!about.ending) ending_.push_back(which);
    about.ending = true;
    if (!about.error) about.error = error;
}

void streams_wire::finish(peer which) {
    auto& about = peers_[which];
    auto const error = about.error == 0 && !about.coming.empty() ? ECONNRESET : about.error;
    for (auto const one : about.inner) inner_->drop(one, error);
    auto const old = std::exchange<state>(about, fresh()); // what is reported may lead to new frames
    report(old, error ? error : ECONNRESET);
    sink_.closed(which, error);
}

void streams_wire::report(state const& old, int error) {
    for (auto const& [number, one] : old.coming)
        if (one.begun) sink_.lost(one.token);
    for (void* const token : old.failed) sink_.failed(token, error);
    for (auto const& one : old.leaving)
        if (one->token && !one->stuck) sink_.failed(one->token, error);
}

bool streams_wire::poll() {
    bool moved = inner_->poll();
    if (ending_.empty()) return moved;
    // Who has closed one connection without an error has closed all, and what was sent by the others is there.
    for (int k = 0; k < last_looks && moved; ++k) moved = inner_->poll();
    for (auto const one : std::exchange(ending_, {})) finish(one);
    return true;
}

bool streams_wire::flush(std::chrono::milliseconds limit) {
    auto const left = [this] {
        auto sum = inner_->unacknowledged();
        for (auto const& about : peers_)
            for (auto const& one : about.leaving) sum += one->size - one->given;
        return sum;
    };
    return net::linger(inner_->wait_fd(), limit, left, [this] { poll(); });
}

std::uint64_t streams_wire::backlog(peer to) const {
    std::uint64_t sum = 0;
    for (auto const& one : peers_[to].leaving) sum += one->size - one->given;
    for (auto const one : peers_[to].inner) sum += inner_->backlog(one);
    return sum;
}

net::counters const& streams_wire::counted() const {
    counted_ = inner_->counted();
    counted_.frames_sent = frames_sent_;
    counted_.frames_received = frames_received_;
    counted_.held = held_;
    return counted_;
}

} // namespace

std::unique_ptr<net::wire> make_streams(net::sink& sink, options const& how) {
    return std::make_unique<streams_wire>(sink, how);
}

} // namespace assay::tcp
