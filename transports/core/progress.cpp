// What the wire reports.
#include "transports/core/ep.hpp"
#include "transports/core/mr.hpp"

#include <algorithm>
#include <utility>

namespace assay::ofi {

// A frame that is arriving.
struct endpoint::landing {
    packet head;
    arrival* message = nullptr;
    request* answer = nullptr;
    region* memory = nullptr; // that a write goes to
    pieces places;
    std::unique_ptr<std::byte[]> operands; // of an atomic operation
    int error = 0;
};

net::destination endpoint::begun(net::peer from, std::byte const* bytes, std::uint64_t size) {
    auto to = std::make_unique<landing>();
    to->head = understand(bytes);
    auto const& head = to->head;
    if (peers_.size() <= from) peers_.resize(from + 1);
    auto& in_flight = peers_[from].in_flight;
    in_flight -= std::min<std::uint64_t>(in_flight, head.credit);
    switch (head.what) {
    case kind::message: begun_message(from, head, size, *to); break;
    case kind::bulk: begun_bulk(from, head, size, *to); break;
    case kind::write: begun_write(from, head, size, *to); break;
    case kind::atomic: begun_atomic(head, size, *to); break;
    case kind::found: begun_found(from, head, size, *to); break;
    default: break; // no payload, or one that nobody asked for
    }
    auto& it = *to.release(); // arrived() or lost() frees it
    return {it.places.list(), &it};
}

// A message, or the announcement of one, goes to the first receive that takes it; else it waits for one.
arrival& endpoint::match(net::peer from, packet const& head) {
    auto message = std::make_unique<arrival>();
    message->from = from;
    message->head = head;
    bool const with_tag = head.flags & is_tagged;
    label const known{from, with_tag ? head.tag : 0};
    ++traffic_.received;
    traffic_.received_bytes += head.size;
    if (auto* const receive = receives(with_tag).find(known)) give(*message, *receive);
    else {
        ++traffic_.unexpected;
        messages(with_tag).add(known, message.get());
    }
    return *message.release();
}

void endpoint::begun_message(net::peer from, packet head, std::uint64_t size, landing& to) {
    head.size = size;
    auto& message = match(from, head);
    if (!message.into && size > configured().window) message.error = FI_EOVERFLOW; // more than it had credit for
    else if (!message.into) {
        message.body = std::make_unique_for_overwrite<std::byte[]>(size);
        to.places.add({message.body.get(), static_cast<std::size_t>(size)});
    } else to.places = message.places;
    to.message = &message;
}

// Nobody else may write there, and not twice.
void endpoint::begun_bulk(net::peer from, packet const& head, std::uint64_t size, landing& to) {
    auto* const message = granted_.find(head.other);
    if (!message || message->from != from || std::exchange(message->coming, true)) return;
    to.message = message;
    to.places = message->places;
    if (size != to.places.size()) to.error = FI_EIO;
}

void endpoint::begun_found(net::peer from, packet const& head, std::uint64_t size, landing& to) {
    auto* const one = find_request(from, head);
    if (!one || !(one->flags & FI_READ)) return;
    to.answer = one;
    ++one->coming;
    if (!head.status) to.places = one->memory.part(static_cast<std::size_t>(head.data), static_cast<std::size_t>(size));
}

void endpoint::begun_write(net::peer, packet const& head, std::uint64_t size, landing& to) {
    to.head.size = size;
    auto* const place = find_memory(in, head.other, head.tag, size, FI_REMOTE_WRITE, to.error);
    if (!place) return;
    to.places.add({place, static_cast<std::size_t>(size)});
    to.memory = in.regions.at(head.other);
    to.memory->arriving.emplace_back(this, &to);
}

void endpoint::withdraw(void* token) {
    auto& it = *static_cast<landing*>(token);
    it.memory = nullptr;
    it.error = FI_EKEYREJECTED;
    wire_->withdraw(token);
}

void endpoint::arrived(net::peer from, void* token) {
    std::unique_ptr<landing> const owner(static_cast<landing*>(token));
    auto const& head = owner->head;
    switch (head.what) {
    case kind::message: {
        auto& message = *owner->message;
        message.here = true;
        if (message.discarded) discard(message);
        else if (message.into) { // matched before, or while it came
            if (message.body) message.places.store(message.body.get(), message.places.size());
            complete(message, message.error);
        }
        break;
    }
    case kind::offer: {
        auto& message = match(from, head);
        message.here = true;
        if (message.into) grant(message);
        break;
    }
    case kind::grant: granted(from, head); break;
    case kind::bulk:
        if (owner->message) complete(*owner->message, owner->error);
        break;
    case kind::write: written(from, *owner); break;
    case kind::read: serve_read(from, head); break;
    case kind::atomic: serve_atomic(from, *owner); break;
    case kind::found:
        if (owner->answer) {
            --owner->answer->coming;
            owner->answer->got += owner->places.size();
            answered(*owner->answer, head.status);
        }
        break;
    case kind::done: done(from, head); break;
    case kind::credit: break;
    }
}

// Not for what waits for data or for a grant.
void endpoint::done(net::peer from, packet const& head) {
    auto* const one = find_request(from, head);
    if (one && !(one->flags & FI_READ) && !one->offered) answered(*one, head.status);
}

void endpoint::serve_read(net::peer from, packet const& head) {
    packet answer;
    answer.what = kind::found;
    answer.id = head.id;
    answer.data = head.data;
    int error = 0;
    auto* const place = find_memory(in, head.other, head.tag, head.size, FI_REMOTE_READ, error);
    answer.status = error;
    count(remote_read_counter_, error);
    iovec const memory{place, place ? static_cast<std::size_t>(head.size) : 0};
    // A copy of what cannot go at once: later writes, and whoever takes the memory away, must not change the answer.
    dispatch(from, answer, {&memory, 1}, net::memory::copy, nullptr);
}

namespace {

form form_of(packet const& head) {
    return head.flags & compares ? form::comparing : head.flags & fetches ? form::fetching : form::plain;
}

} // namespace

// Nothing of it is believed: it may come from a process that is out of its mind.
void endpoint::begun_atomic(packet const& head, std::uint64_t size, landing& to) {
    auto const type = static_cast<fi_datatype>(head.type);
    auto const op = static_cast<fi_op>(head.op);
    auto const how = form_of(head);
    to.error = FI_EOPNOTSUPP;
    if (!defined(type, op, how)) return;
    to.error = FI_EINVAL;
    auto const operands = op == FI_ATOMIC_READ ? 0u : how == form::comparing ? 2u : 1u;
    if (head.size > most_atomic || head.size % size_of(type) != 0 || size != operands * head.size) return;
    to.error = 0;
    to.operands = std::make_unique_for_overwrite<std::byte[]>(size);
    to.places.add({to.operands.get(), static_cast<std::size_t>(size)});
}

// The memory is looked for now: it may have been taken away while the operand came.
void endpoint::serve_atomic(net::peer from, landing& what) {
    auto const& head = what.head;
    auto const type = static_cast<fi_datatype>(head.type);
    auto const op = static_cast<fi_op>(head.op);
    auto const how = form_of(head);
    auto const size = static_cast<std::size_t>(head.size);
    packet answer;
    answer.what = how == form::plain ? kind::done : kind::found;
    answer.id = head.id;
    answer.data = head.data;
    std::unique_ptr<std::byte[]> before;
    auto* const target =
        what.error ? nullptr : find_memory(in, head.other, head.tag, head.size, needed_access(op, how), what.error);
    if (target) {
        auto const* const operand = op == FI_ATOMIC_READ ? nullptr : what.operands.get();
        if (how != form::plain) before = std::make_unique_for_overwrite<std::byte[]>(size);
        perform(type, op, size / size_of(type), target, operand,
                how == form::comparing ? what.operands.get() + size : nullptr, before.get());
        if (before && net::planted(fault::atomic_late_fetch)) std::memcpy(before.get(), target, size);
    }
    answer.status = what.error;
    count(how == form::plain ? remote_write_counter_ : remote_read_counter_, what.error);
    if (target && op != FI_ATOMIC_READ) count(in.regions.at(head.other)->writes, 0);
    iovec const memory{before.get(), before ? size : 0};
    dispatch(from, answer, {&memory, 1}, net::memory::copy, nullptr);
}

void endpoint::written(net::peer from, landing& what) {
    if (what.memory) std::erase_if(what.memory->arriving, [&](auto const& entry) { return entry.second == &what; });
    packet answer;
    answer.what = kind::done;
    answer.id = what.head.id;
    answer.status = what.error;
    dispatch(from, answer, {}, net::memory::copy, nullptr);
    count(remote_write_counter_, what.error);
    if (!what.error && what.memory) count(what.memory->writes, 0);
    if (what.error || !(what.head.flags & has_data) || !receive_queue_) return;
    completion it;
    it.flags = FI_RMA | FI_REMOTE_WRITE | FI_REMOTE_CQ_DATA;
    it.size = static_cast<std::size_t>(what.head.size);
    it.data = what.head.data;
    it.from = number_of(from);
    receive_queue_->push(it);
}

void endpoint::lost(void* token) {
    std::unique_ptr<landing> const owner(static_cast<landing*>(token));
    if (owner->memory)
        std::erase_if(owner->memory->arriving, [&](auto const& entry) { return entry.second == owner.get(); });
    if (owner->answer) {
        --owner->answer->coming;
        answered(*owner->answer, FI_ECONNRESET);
    }
    auto* const message = owner->message;
    if (!message) return;
    if (message->into) return complete(*message, FI_ECONNRESET);
    messages(message->head.flags & is_tagged).remove(message);
    std::erase_if(claimed_, [message](auto const& entry) { return entry.second == message; });
    delete message;
}

void endpoint::sent(void* token) {
    auto& one = *static_cast<request*>(token);
    --one.queued;
    settle(one);
}

void endpoint::failed(void* token, int error) {
    auto& one = *static_cast<request*>(token);
    one.error = error;
    one.awaited = 0;
    --one.queued;
    settle(one);
}

// Nothing that waits for this peer can end well any more. What it has sent completely stays.
void endpoint::closed(net::peer which, int reason) {
    int const error = reason ? reason : FI_ECONNRESET;
    if (peers_.size() <= which) peers_.resize(which + 1);
    peers_[which].in_flight = peers_[which].owed = 0;
    for (auto* one : requests_.all())
        if (one->to == which && one->awaited > 0) {
            one->error = error;
            one->awaited = 0;
            settle(*one);
        }
    for (auto* message : granted_.all())
        if (message->from == which) complete(*message, error);
    auto const mark = [&](arrival& message) {
        if (message.from == which && message.head.what == kind::offer) message.error = error;
    };
    for (auto const& [context, message] : claimed_) mark(*message);
    for (bool const with_tag : {true, false}) {
        messages(with_tag).each([&](label const&, arrival& message) { mark(message); });
        receives(with_tag).take_all([&](wanted const& what, receive const*) { return what.from == which; },
                                    [&](receive* one) {
                                        one->finished = true;
                                        if (one->filling == 0) end(*one, error, number_of(which));
                                    });
    }
    if (events_ && reason) events_->report(&fid, fid.context, number_of(which), reason);
}

} // namespace assay::ofi
