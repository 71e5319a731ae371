// What goes out: messages, writes and reads, until they are complete.
#include "transports/core/ep.hpp"
#include "transports/core/mr.hpp"

#include <algorithm>
#include <utility>

namespace assay::ofi {

bool endpoint::find_peer(fi_addr_t number, net::peer& found) {
    if (!av_ || number >= av_->entries.size() || av_->entries[number].empty()) return false;
    if (by_number_.size() <= number) by_number_.resize(number + 1, any_peer);
    if (by_number_[number] == any_peer) by_number_[number] = wire_->reach(av_->entries[number]);
    found = by_number_[number];
    if (peers_.size() <= found) peers_.resize(found + 1);
    return true;
}

// What is complete when its call returns must not wait for a connection: the program may never look for completions again.
bool endpoint::ready(net::peer to) {
    if (wire_->ready(to)) return true;
    progress();
    return wire_->ready(to);
}

namespace {

// Streams are told apart by what libfabric's clients put into tags: the context above, the tag of a message below.
net::flow flow_of(packet const& head) {
    auto const low = [](std::uint64_t bits) { return static_cast<std::uint32_t>(bits); };
    switch (head.what) {
    case kind::message: return {.context = low(head.tag >> 32), .tag = low(head.tag)};
    // Both were asked for, by a side that does nothing with their memory before they are there.
    case kind::bulk: return {.tag = low(head.other), .unordered = true};
    case kind::found: return {.tag = low(head.id), .unordered = true};
    case kind::offer:
    case kind::grant:
    case kind::read:
    case kind::done:
    case kind::credit: return {.control = true};
    default: return {.tag = low(head.other)}; // by the memory they go to
    }
}

} // namespace

// Every frame leaves here: it takes along what is owed to its receiver.
bool endpoint::dispatch(net::peer to, packet& head, std::span<iovec const> payload, net::memory how, void* token) {
    if (peers_.size() <= to) peers_.resize(to + 1);
    auto& about = peers_[to];
    about.gone = 0; // it is called again
    head.credit = static_cast<std::uint32_t>(std::min<std::uint64_t>(about.owed, ~std::uint32_t{0}));
    about.owed -= head.credit;
    if (wire_->address_of(to) != name_ && ++traffic_.remote == traffic_.next_note) {
        traffic_.next_note *= 2;
        traffic_.write(wire_->counted(), false);
    }
    return wire_->send(to, &head, payload, flow_of(head), how, token);
}

std::unique_ptr<request> endpoint::begin(request::kind what, pieces const& memory, manner const& how, net::peer to) {
    auto one = std::make_unique<request>();
    one->what = what;
    one->to = to;
    one->memory = memory;
    one->context = how.context;
    one->report = how.report;
    one->injected = how.flags & FI_INJECT;
    return one;
}

// The caller wants its memory back at once.
void endpoint::keep_copy(request& one) {
    auto const size = one.memory.size();
    one.copy = std::make_unique<std::byte[]>(size);
    one.memory.load(one.copy.get());
    one.memory = {};
    one.memory.add({one.copy.get(), size});
}

// Sends a frame of a request. Memory that the caller wants back at once is copied, if the wire needs it for longer.
void endpoint::launch(request& one, packet& head, pieces const& payload) {
    if (!dispatch(one.to, head, payload.list(), net::memory::borrow, static_cast<sending*>(&one))) ++one.queued;
}

// Frees the request, and reports it, once nothing is to be expected any more.
void endpoint::settle(request& one) {
    bool const coming = one.coming > 0 && !net::planted(fault::answers_believed);
    if (one.queued > 0 || one.awaited > 0 || coming) return;
    std::unique_ptr<request> const owner(&one);
    requests_.remove(one.number);
    // Less than was asked for: the other side answers what it should not.
    if (!one.error && one.flags & FI_READ && one.got != one.memory.size()) one.error = FI_EIO;
    count(one.flags & FI_SEND ? send_counter_ : one.flags & FI_WRITE ? write_counter_ : read_counter_, one.error);
    if (one.error) ++traffic_.failed;
    if (!send_queue_ || (!one.report && !one.error)) return;
    completion it;
    it.context = one.context;
    it.flags = one.flags;
    it.error = one.error;
    send_queue_->push(it);
}

// Whether the peer has room for it, beside what it has to answer and to keep for this side already; then it is counted.
bool endpoint::takes(peer_state& by, burden const& it) {
    if (by.awaited + it.answers > most_awaited) return false;
    auto const kept = by.results + (it.kept ? it.results : 0);
    if ((it.kept || it.changes) && by.results > 0 && kept > most_kept()) return false;
    by.awaited += it.answers;
    by.results += it.results;
    return true;
}

// Starts an operation now, or after those for this peer that wait already: a peer has only so much room for them, and the order of
// the calls is kept.
template <typename Start> void endpoint::in_turn(net::peer to, burden const& asked, Start start) {
    auto& about = peers_[to];
    if (!about.waiting && takes(about, asked)) return start();
    if (!about.waiting) about.waiting = std::make_unique<std::deque<delayed>>();
    about.waiting->push_back({asked, start});
}

// A peer has answered, so that others may start.
void endpoint::came(net::peer from, std::uint64_t answers, std::uint64_t results) {
    peers_[from].awaited -= std::min(peers_[from].awaited, answers);
    peers_[from].results -= std::min(peers_[from].results, results);
    while (auto* const waiting = peers_[from].waiting.get()) {
        auto& about = peers_[from];
        if (!takes(about, waiting->front().asked)) return;
        auto const start = std::move(waiting->front().start);
        waiting->pop_front();
        if (waiting->empty()) about.waiting.reset();
        start();
    }
}

ssize_t endpoint::send(bool with_tag, pieces const& memory, std::uint64_t tag, manner const& how) {
    auto const& set = configured();
    bool const inject = how.flags & FI_INJECT;
    if (inject && memory.size() > set.inject) return -FI_EMSGSIZE;
    net::peer to = 0;
    if (!find_peer(how.peer, to)) return -FI_EINVAL;
    if (inject && !ready(to)) return -FI_EAGAIN;
    packet head;
    head.flags = static_cast<std::uint8_t>((with_tag ? is_tagged : none) | (how.with_data ? has_data : none));
    head.tag = tag;
    head.data = how.data;
    head.size = memory.size();
    bool const confirmed = how.flags & (FI_DELIVERY_COMPLETE | FI_MATCH_COMPLETE);
    if (confirmed) head.flags |= wants_done;
    auto& about = peers_[to];
    auto const cost = credit_for(memory.size());
    traffic_.bytes += memory.size();

    auto one = begin(request::kind::send, memory, how, to);
    one->flags = FI_SEND | (with_tag ? FI_TAGGED : FI_MSG);
    one->lasting = confirmed;
    if (memory.size() <= set.eager && about.in_flight + cost <= set.window && !about.waiting) {
        about.in_flight += cost;
        ++traffic_.eager;
        head.what = kind::message;
        if (confirmed) {
            one->awaited = 1;
            head.id = one->number = requests_.add(one.get());
        }
        auto& it = *one.release();
        if (inject) dispatch(to, head, memory.list(), net::memory::copy, nullptr);
        else launch(it, head, memory);
        settle(it);
        return 0;
    }
    ++traffic_.offered;
    head.what = kind::offer;
    one->offered = true;
    if (inject && memory.size() > 0 && !net::planted(fault::inject_not_copied)) keep_copy(*one);
    one->awaited = 1;
    head.id = one->number = requests_.add(one.get());
    (void)one.release(); // settle() frees it
    in_turn(to, {.answers = 1}, [this, to, head]() mutable { dispatch(to, head, {}, net::memory::copy, nullptr); });
    return 0;
}

// A receive has taken an offer: its data follows, as much of it as there is room for.
void endpoint::granted(net::peer from, packet const& head) {
    auto* const one = find_request(from, head);
    if (!one || !std::exchange(one->offered, false)) return;
    if (!one->lasting) --one->awaited;
    came(from, 1, 0);
    if (head.size > 0) {
        packet answer;
        answer.what = kind::bulk;
        answer.other = head.other;
        ++traffic_.bulk;
        launch(*one, answer, one->memory.part(0, static_cast<std::size_t>(head.size)));
    }
    settle(*one);
}

// The request that an answer is for, if it waits for one from there. Peers are not believed: an answer may come twice.
request* endpoint::find_request(net::peer from, packet const& head) const {
    auto* const one = requests_.find(head.id);
    bool const waits = one && (one->awaited > one->coming || net::planted(fault::answers_believed));
    return waits && one->to == from ? one : nullptr;
}

// Bytes that the answers to it bring.
std::uint64_t endpoint::results_of(request const& one) { return one.flags & FI_READ ? one.memory.size() : 0; }

void endpoint::answered(request& one, int error) {
    auto const last = one.awaited == 1;
    if (one.awaited > 0) --one.awaited;
    if (one.what != request::kind::send) came(one.to, 1, last ? results_of(one) : 0);
    if (error) one.error = error;
    settle(one);
}

namespace {

// A list of remote memory that outlives the call.
struct remote_list {
    std::array<fi_rma_iov, most_pieces> list{};
    std::size_t count = 0;
};

remote_list list_of(std::span<fi_rma_iov const> remote) {
    remote_list made;
    made.count = std::min(remote.size(), made.list.size());
    std::copy_n(remote.begin(), made.count, made.list.begin());
    return made;
}

} // namespace

ssize_t endpoint::write(pieces const& memory, std::span<fi_rma_iov const> remote, manner const& how) {
    auto const& set = configured();
    if (how.flags & FI_INJECT && memory.size() > set.inject) return -FI_EMSGSIZE;
    net::peer to = 0;
    if (!find_peer(how.peer, to) || remote.empty() || remote.size() > most_pieces) return -FI_EINVAL;
    if (how.flags & FI_INJECT && !ready(to)) return -FI_EAGAIN;
    auto one = begin(request::kind::write, memory, how, to);
    one->flags = FI_RMA | FI_WRITE;
    if (how.flags & FI_INJECT && memory.size() > 0) keep_copy(*one);
    one->number = requests_.add(one.get());
    one->awaited = static_cast<unsigned>(remote.size());
    traffic_.bytes += memory.size();
    auto& it = *one.release();
    in_turn(to, {.answers = remote.size(), .changes = true}, [this, &it, how, places = list_of(remote)] {
        std::size_t from = 0;
        for (std::size_t k = 0; k < places.count; ++k) {
            auto const& there = places.list[k];
            packet head;
            head.what = kind::write;
            head.id = it.number;
            head.tag = there.addr;
            head.other = there.key;
            head.size = there.len;
            if (how.with_data && k + 1 == places.count) { // the completion at the target comes after all of the data
                head.flags = has_data;
                head.data = how.data;
            }
            ++traffic_.writes;
            launch(it, head, it.memory.part(from, there.len));
            from += there.len;
        }
    });
    return 0;
}

ssize_t endpoint::read(pieces const& memory, std::span<fi_rma_iov const> remote, manner const& how) {
    net::peer to = 0;
    if (!find_peer(how.peer, to) || remote.empty() || remote.size() > most_pieces) return -FI_EINVAL;
    auto one = begin(request::kind::read, memory, how, to);
    one->flags = FI_RMA | FI_READ;
    one->number = requests_.add(one.get());
    one->awaited = static_cast<unsigned>(remote.size());
    auto& it = *one.release();
    in_turn(to, {.answers = remote.size(), .results = results_of(it)}, [this, &it, to, places = list_of(remote)] {
        std::size_t from = 0;
        for (std::size_t k = 0; k < places.count; ++k) {
            packet head;
            head.what = kind::read;
            head.id = it.number;
            head.tag = places.list[k].addr;
            head.other = places.list[k].key;
            head.size = places.list[k].len;
            head.data = from; // comes back with the answer: where in the memory it goes
            ++traffic_.reads;
            dispatch(to, head, {}, net::memory::copy, nullptr);
            from += places.list[k].len;
        }
    });
    return 0;
}

// One frame for each piece of remote memory: its part of the operand, followed by its part of what to compare with.
ssize_t endpoint::atomic_operation(atomic_request const& it, manner const& how) {
    auto const size = it.operand.size() + it.compare.size();
    if (how.flags & FI_INJECT && size > configured().inject) return -FI_EMSGSIZE;
    net::peer to = 0;
    if (!find_peer(how.peer, to)) return -FI_EINVAL;
    if (how.flags & FI_INJECT && !ready(to)) return -FI_EAGAIN;
    auto one = begin(request::kind::atomic, it.result, how, to);
    one->flags = FI_ATOMIC | (it.how == form::plain ? FI_WRITE : FI_READ);
    one->copy = std::make_unique<std::byte[]>(size);
    one->number = requests_.add(one.get());
    one->awaited = static_cast<unsigned>(it.remote.size());
    traffic_.bytes += size;
    packet head;
    head.what = kind::atomic;
    head.type = static_cast<std::uint8_t>(it.type);
    head.op = static_cast<std::uint8_t>(it.op);
    head.flags = it.how == form::plain ? none : it.how == form::fetching ? fetches : fetches | compares;
    head.id = one->number;
    // In the order in which they are sent.
    auto* at = one->copy.get();
    std::size_t from = 0;
    for (auto const& there : it.remote) {
        for (auto const* memory : {&it.operand, &it.compare}) {
            auto const part = memory->part(from, there.len);
            part.load(at);
            at += part.size();
        }
        from += there.len;
    }
    auto const operands = size / from;
    auto& request = *one.release();
    burden const asked{.answers = it.remote.size(),
                       .results = results_of(request),
                       .kept = it.how != form::plain,
                       .changes = it.op != FI_ATOMIC_READ};
    in_turn(to, asked, [this, &request, head, operands, places = list_of(it.remote)]() mutable {
        auto* next = request.copy.get();
        head.data = 0;
        for (std::size_t k = 0; k < places.count; ++k) {
            auto const& there = places.list[k];
            head.tag = there.addr;
            head.other = there.key;
            head.size = there.len;
            ++traffic_.atomics;
            launch(request, head, one_piece(next, operands * there.len));
            next += operands * there.len;
            head.data += there.len;
        }
    });
    return 0;
}

} // namespace assay::ofi
