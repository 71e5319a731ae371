// What the wire reports.
#include "transports/core/ep.hpp"
#include "transports/core/mr.hpp"

#include <algorithm>
#include <cerrno>
#include <new>
#include <system_error>
#include <utility>

namespace assay::ofi {

// A frame that is arriving.
struct endpoint::landing {
    explicit landing(net::peer sender) : from(sender) {}
    net::peer from;
    bool counted = false; // among the frames that its sender has begun
    packet head;
    arrival* message = nullptr;
    request* answer = nullptr;
    region* memory = nullptr; // that a write goes to
    pieces places;
    std::unique_ptr<std::byte[]> operands; // of an atomic operation
    int error = 0;
};

// No exception leaves it: the caller may be a thread of ours, and the wire is not made to go on after an exception.
bool endpoint::progress() noexcept {
    int error = 0;
    try {
        return wire_->poll();
    } catch (std::bad_alloc const&) {
        error = FI_ENOMEM;
    } catch (std::system_error const& it) {
        error = it.code().value();
    } catch (std::exception const&) {
        error = FI_EIO;
    }
    // It is not known what was lost, so all connections end, and whatever waits for them ends with the error.
    for (std::size_t who = 0; who < peers_.size(); ++who) try {
            wire_->give_up(static_cast<net::peer>(who), error);
        } catch (std::exception const&) {}
    return true;
}

net::destination endpoint::begun(net::peer from, std::byte const* bytes, std::uint64_t size) {
    std::unique_ptr<landing> to;
    try {
        to = std::make_unique<landing>(from);
        to->head = understand(bytes);
        begun_frame(from, size, *to);
    } catch (std::bad_alloc const&) { // the sender must not wait for an answer to this
        wire_->give_up(from, FI_ENOMEM);
        if (!to) return {};
    }
    auto& it = *to.release(); // arrived() or lost() frees it
    return {it.places.list(), &it};
}

void endpoint::begun_frame(net::peer from, std::uint64_t size, landing& to) {
    auto const& head = to.head;
    if (peers_.size() <= from) peers_.resize(from + 1);
    auto& about = peers_[from];
    about.gone = 0;
    about.in_flight -= std::min<std::uint64_t>(about.in_flight, head.credit);
    switch (head.what) {
    case kind::message: begun_message(from, head, size, to); break;
    case kind::bulk: begun_bulk(from, head, size, to); break;
    case kind::write: begun_write(from, head, size, to); break;
    case kind::atomic: begun_atomic(head, size, to); break;
    case kind::found: begun_found(from, head, size, to); break;
    default: break; // no payload, or one that nobody asked for
    }
    if (to.answer || (to.message && head.what == kind::bulk)) return;
    if (++peers_[from].begun > most_begun) wire_->give_up(from, EPROTO);
    to.counted = true;
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
    auto const cost = credit_for(size);
    // It has sent more than it had credit for. Who keeps to that has at most a window on the way or here.
    if (cost < size || !peers_[from].eager.take(cost, configured().window)) return wire_->give_up(from, EPROTO);
    auto& message = match(from, head);
    to.message = &message;
    if (message.into) {
        to.places = message.places;
        return;
    }
    message.body.reset(new (std::nothrow) std::byte[static_cast<std::size_t>(size)]);
    if (message.body) to.places.add({message.body.get(), static_cast<std::size_t>(size)});
    else message.error = FI_ENOMEM; // of the receive that it goes to
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

void endpoint::begun_write(net::peer from, packet const& head, std::uint64_t size, landing& to) {
    to.head.size = size;
    auto* const place = find_memory(in, head.other, head.tag, size, FI_REMOTE_WRITE, to.error);
    if (!place) return;
    to.memory = in.regions.at(head.other);
    keep_before_change(from, *to.memory, place, size);
    to.places.add({place, static_cast<std::size_t>(size)});
    to.memory->arriving.emplace_back(this, &to);
}

// Answers to reads that came before a write show what was there before it.
void endpoint::keep_before_change(net::peer by, region& memory, std::byte const* place, std::uint64_t size) {
    if (net::planted(fault::reads_unordered)) return;
    for (auto const& [at, one] : memory.leaving) {
        auto const* const from = static_cast<std::byte const*>(one->data.iov_base);
        bool const same = from < place + size && place < from + one->data.iov_len;
        if (at == this && one->to == by && same && !keep(*one, most_kept())) return wire_->give_up(by, EPROTO);
    }
}

void endpoint::withdraw(void* token) {
    auto& it = *static_cast<landing*>(token);
    it.memory = nullptr;
    it.error = FI_EKEYREJECTED;
    wire_->withdraw(token);
}

void endpoint::arrived(net::peer from, void* token) {
    if (!token) return; // there was no memory for it
    std::unique_ptr<landing> const owner(static_cast<landing*>(token));
    if (owner->counted) --peers_[from].begun;
    try {
        arrived_frame(from, *owner);
    } catch (std::bad_alloc const&) {
        wire_->give_up(from, FI_ENOMEM);
    }
}

void endpoint::arrived_frame(net::peer from, landing& it) {
    auto const& head = it.head;
    switch (head.what) {
    case kind::message: {
        if (!it.message) break;
        auto& message = *it.message;
        message.here = true;
        if (message.discarded) discard(message);
        else if (message.into) { // matched before, or while it came
            if (message.body) message.places.store(message.body.get(), message.places.size());
            complete(message, message.error);
        }
        break;
    }
    case kind::offer: announced(from, head); break;
    case kind::grant: granted(from, head); break;
    case kind::bulk:
        if (it.message) complete(*it.message, it.error);
        break;
    case kind::write: written(from, it); break;
    case kind::read: serve_read(from, head); break;
    case kind::atomic: serve_atomic(from, it); break;
    case kind::found:
        if (it.answer) {
            --it.answer->coming;
            it.answer->got += it.places.size();
            answered(*it.answer, head.status);
        }
        break;
    case kind::done: done(from, head); break;
    case kind::credit: break;
    }
}

void endpoint::announced(net::peer from, packet const& head) {
    if (peers_[from].offers.now >= most_awaited + peers_[from].offers.before) return wire_->give_up(from, EPROTO);
    auto& message = match(from, head);
    message.here = true;
    if (message.into) return grant(message);
    message.kept_offer = true;
    peers_[from].offers.take(1, most_awaited);
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
    respond(from, answer, memory, place ? in.regions.at(head.other) : nullptr);
}

// An answer. Its data may be in a region, from which the wire takes it when there is room; then the region knows of it.
void endpoint::respond(net::peer to, packet& head, iovec const& data, region* from, std::unique_ptr<std::byte[]> copy) {
    auto const size = copy ? data.iov_len : 0;
    auto const& about = peers_[to];
    if (about.replies >= most_replies() || about.kept + size > most_kept())
        return wire_->give_up(to, EPROTO); // it asks, and does not listen
    if (spare_replies_.empty()) spare_replies_.push_back(std::make_unique<reply>());
    auto one = std::move(spare_replies_.back());
    spare_replies_.pop_back();
    one->to = to;
    one->data = data;
    one->copy = std::move(copy);
    one->from = from;
    if (from) from->leaving.emplace_back(this, one.get());
    ++peers_[to].replies;
    peers_[to].kept += one->kept = size;
    auto& it = *one.release();
    try {
        if (!dispatch(to, head, {&data, 1}, net::memory::borrow, static_cast<sending*>(&it))) return;
    } catch (...) {
        retire(it);
        throw;
    }
    retire(it);
}

void endpoint::retire(reply& one) {
    --peers_[one.to].replies;
    peers_[one.to].kept -= std::exchange(one.kept, 0);
    if (one.from) std::erase_if(one.from->leaving, [&](auto const& entry) { return entry.second == &one; });
    one.from = nullptr;
    one.copy.reset();
    std::unique_ptr<reply> owner(&one);
    if (spare_replies_.size() < 64) spare_replies_.push_back(std::move(owner));
}

// Copies what is left of an answer. False: more than `limit` would be kept for the peer.
bool endpoint::keep(reply& one, std::uint64_t limit) {
    auto& about = peers_[one.to];
    if (one.kept > 0) return true;
    if (about.kept + one.data.iov_len > limit) return false;
    wire_->keep(static_cast<sending*>(&one));
    about.kept += one.kept = one.data.iov_len;
    return true;
}

// It is kept, or else the connection ends. Of a single answer any size is kept, as long as there is memory.
void endpoint::abandon(reply& one) {
    one.from = nullptr;
    try {
        if (keep(one, std::max<std::uint64_t>(most_kept(), one.data.iov_len))) return;
    } catch (std::bad_alloc const&) {}
    wire_->give_up(one.to, FI_EKEYREJECTED);
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
        if (op != FI_ATOMIC_READ) keep_before_change(from, *in.regions.at(head.other), target, size);
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
    respond(from, answer, memory, nullptr, std::move(before));
}

void endpoint::written(net::peer from, landing& what) {
    if (what.memory) std::erase_if(what.memory->arriving, [&](auto const& entry) { return entry.second == &what; });
    packet answer;
    answer.what = kind::done;
    answer.id = what.head.id;
    answer.status = what.error;
    respond(from, answer, {}, nullptr);
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
    if (!token) return; // there was no memory for it
    std::unique_ptr<landing> const owner(static_cast<landing*>(token));
    if (owner->counted) --peers_[owner->from].begun;
    if (owner->memory)
        std::erase_if(owner->memory->arriving, [&](auto const& entry) { return entry.second == owner.get(); });
    if (owner->answer) {
        --owner->answer->coming;
        answered(*owner->answer, FI_ECONNRESET);
    }
    auto* const message = owner->message;
    if (!message) return;
    if (message->head.what == kind::message) peers_[message->from].eager.free(credit_for(message->head.size));
    if (message->into) return complete(*message, FI_ECONNRESET);
    messages(message->head.flags & is_tagged).remove(message);
    std::erase_if(claimed_, [message](auto const& entry) { return entry.second == message; });
    delete message;
}

void endpoint::sent(void* token) {
    auto& it = *static_cast<sending*>(token);
    if (it.is_reply) return retire(static_cast<reply&>(it));
    auto& one = static_cast<request&>(it);
    --one.queued;
    settle(one);
}

void endpoint::failed(void* token, int error) {
    auto& it = *static_cast<sending*>(token);
    if (it.is_reply) return retire(static_cast<reply&>(it));
    auto& one = static_cast<request&>(it);
    auto const to = one.to;
    std::uint64_t const answers = one.what != request::kind::send ? one.awaited : one.offered ? 1 : 0;
    auto const results = one.awaited > 0 ? results_of(one) : 0;
    one.error = error;
    one.awaited = 0;
    --one.queued;
    settle(one);
    if (answers > 0) came(to, answers, results);
}

// Nothing that waits for this peer can end well any more. What it has sent completely stays.
void endpoint::closed(net::peer which, int reason) {
    int const error = reason ? reason : closed_by_peer;
    if (peers_.size() <= which) peers_.resize(which + 1);
    auto& about = peers_[which];
    about.gone = error;
    about.in_flight = about.owed = about.awaited = about.results = 0;
    about.waiting.reset();
    about.eager.ended(configured().window);
    about.offers.ended(most_awaited);
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
