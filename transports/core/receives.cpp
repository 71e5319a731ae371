// What comes in, from a matching receive to its completion.
#include "transports/core/ep.hpp"

#include <algorithm>
#include <utility>

namespace assay::ofi {
namespace {

constexpr std::size_t multi_alignment = 8; // of messages in one buffer, for programs that read structs from it

} // namespace

receive* endpoint::make_receive(bool with_tag, pieces const& memory, wanted const& what, manner const& how) {
    auto* const one = new receive;
    one->memory = memory;
    one->context = how.context;
    one->what = what;
    one->tagged = with_tag;
    one->report = how.report;
    one->multi = how.flags & FI_MULTI_RECV;
    return one;
}

ssize_t endpoint::post(bool with_tag, pieces const& memory, std::uint64_t tag, std::uint64_t ignore,
                       manner const& how) {
    wanted what{any_peer, tag, ignore};
    if (directed_ && how.peer != FI_ADDR_UNSPEC && !find_peer(how.peer, what.from)) return -FI_EINVAL;
    if (how.flags & FI_PEEK) return peek(with_tag, what, how);
    if (with_tag && how.flags & FI_CLAIM) return take_claimed(with_tag, memory, how);
    auto* const one = make_receive(with_tag, memory, what, how);
    auto& waiting = messages(with_tag);
    bool const stale = net::planted(fault::stale_rematch);
    while (auto* const message = waiting.find(what, [stale](arrival const& it) { return !stale || it.here; })) {
        waiting.remove(message);
        give(*message, *one);
        bool const finished = one->finished;
        take_here(std::unique_ptr<arrival>(message));
        if (finished) return 0; // the receive may be gone
    }
    if (int const gone = what.from == any_peer ? 0 : peers_[what.from].gone) { // nothing more comes from there
        one->finished = true;
        if (one->filling == 0) end(*one, gone, number_of(what.from));
        return 0;
    }
    receives(with_tag).add(what, one);
    return 0;
}

// The message goes to the receive; its bytes may still be elsewhere, or on their way.
void endpoint::give(arrival& message, receive& to) {
    auto const room = to.memory.size() - to.used;
    auto const size = static_cast<std::size_t>(std::min<std::uint64_t>(message.head.size, room));
    message.places = to.memory.part(to.used, size);
    message.into = &to;
    ++to.filling;
    if (to.multi) {
        to.used =
            std::min((to.used + size + multi_alignment - 1) / multi_alignment * multi_alignment, to.memory.size());
        to.finished = to.memory.size() - to.used < std::max<std::size_t>(least_, 1);
    } else to.finished = true;
    if (to.finished) receives(to.tagged).remove(&to);
}

// For a message that came before its receive, which it has been given to now.
void endpoint::take_here(std::unique_ptr<arrival> message) {
    auto& it = *message.release(); // complete() frees it
    if (!it.here) return;          // arrived() goes on
    release_offer(it);
    if (it.error) complete(it, it.error);
    else if (it.head.what == kind::offer) grant(it);
    else {
        it.places.store(it.body.get(), it.places.size());
        complete(it, 0);
    }
}

// It is not kept for its sender any more.
void endpoint::release_offer(arrival& message) {
    if (std::exchange(message.kept_offer, false)) peers_[message.from].offers.free(1);
}

void endpoint::grant(arrival& message) {
    packet head;
    head.what = kind::grant;
    head.id = message.head.id;
    head.size = message.places.size();
    if (head.size > 0) head.other = message.number = granted_.add(&message);
    respond(message.from, head);
    if (head.size == 0) complete(message, 0);
}

// The last that is heard of a message: its bytes are in place, or will never be.
void endpoint::complete(arrival& message, int error) {
    std::unique_ptr<arrival> const owner(&message);
    if (message.number) granted_.remove(message.number);
    auto& to = *message.into;
    completion it;
    it.size = message.places.size();
    it.buffer = it.size > 0 ? message.places.front() : to.memory.front();
    it.data = message.head.data;
    it.tag = message.head.tag;
    it.from = number_of(message.from);
    it.cut = static_cast<std::size_t>(message.head.size - it.size);
    it.error = error ? error : it.cut > 0 ? FI_ETRUNC : 0;
    if (message.head.flags & has_data) it.flags |= FI_REMOTE_CQ_DATA;
    if (it.cut > 0) ++traffic_.cut;
    if (net::planted(fault::cq_wrong_length) && it.size > 0) --it.size;
    if (!error || error == FI_ENOMEM) used_up(message.from, message.head);
    --to.filling;
    bool const last = to.finished && to.filling == 0;
    if (to.multi && last) it.flags |= FI_MULTI_RECV;
    report(to, it);
    if (last) delete &to;
}

void endpoint::report(receive const& one, completion it) {
    count(receive_counter_, it.error);
    if (!receive_queue_ || (!one.report && !it.error && !(it.flags & FI_MULTI_RECV))) return;
    it.context = one.context;
    it.flags |= FI_RECV | (one.tagged ? FI_TAGGED : FI_MSG);
    receive_queue_->push(it);
}

// No message comes for a receive, or none after those that did.
void endpoint::end(receive& one, int error, fi_addr_t from) {
    completion it;
    it.tag = one.what.tag;
    it.from = from;
    it.error = error;
    if (one.multi) it.flags = FI_MULTI_RECV; // its memory is the program's again
    report(one, it);
    delete &one;
}

// A message has left the memory that its sender counts on, or is known to have arrived.
void endpoint::used_up(net::peer from, packet const& head) {
    if (head.flags & wants_done) {
        packet answer;
        answer.what = kind::done;
        answer.id = head.id;
        respond(from, answer);
    }
    if (head.what != kind::message) return;
    auto const cost = credit_for(head.size);
    peers_[from].eager.free(cost);
    auto& owed = peers_[from].owed;
    owed += cost;
    if (owed < configured().window / 4) return;
    packet answer;
    answer.what = kind::credit;
    ++traffic_.credits;
    respond(from, answer);
}

fi_addr_t endpoint::number_of(net::peer who) {
    if (!source_ || !av_) return FI_ADDR_NOTAVAIL;
    auto const& where = wire_->address_of(who);
    auto& number = peers_[who].number;
    if (number >= av_->entries.size() || av_->entries[number] != where) number = av_->find(where);
    return number;
}

// ---- messages that are looked at before they are received

ssize_t endpoint::peek(bool with_tag, wanted const& what, manner const& how) {
    progress();
    auto& waiting = messages(with_tag);
    auto* const message = waiting.find(what);
    completion it;
    it.context = how.context;
    it.flags = FI_RECV | (with_tag ? FI_TAGGED : FI_MSG);
    it.tag = what.tag;
    if (!message) it.error = FI_ENOMSG;
    else {
        it.size = static_cast<std::size_t>(message->head.size);
        it.tag = message->head.tag;
        it.data = message->head.data;
        it.from = number_of(message->from);
        if (message->head.flags & has_data) it.flags |= FI_REMOTE_CQ_DATA;
        if (how.flags & FI_CLAIM) {
            waiting.remove(message);
            claimed_[how.context] = message;
        } else if (how.flags & FI_DISCARD) {
            waiting.remove(message);
            discard(*message);
        }
    }
    if (receive_queue_ && (how.report || it.error)) receive_queue_->push(it);
    return 0;
}

ssize_t endpoint::take_claimed(bool with_tag, pieces const& memory, manner const& how) {
    auto const at = claimed_.find(how.context);
    if (at == claimed_.end()) return -FI_EINVAL;
    auto* const message = at->second;
    claimed_.erase(at);
    if (how.flags & FI_DISCARD) {
        completion it;
        it.context = how.context;
        it.flags = FI_RECV | (with_tag ? FI_TAGGED : FI_MSG);
        it.tag = message->head.tag;
        discard(*message);
        if (receive_queue_ && how.report) receive_queue_->push(it);
        return 0;
    }
    auto* const one = make_receive(with_tag, memory, {}, how);
    give(*message, *one);
    take_here(std::unique_ptr<arrival>(message));
    return 0;
}

// Nobody wants the message; its sender must not wait for ever.
void endpoint::discard(arrival& message) {
    if (message.head.what == kind::message && !message.here) {
        message.discarded = true; // arrived() goes on
        return;
    }
    std::unique_ptr<arrival> const owner(&message);
    release_offer(message);
    if (message.error) return;
    if (message.head.what == kind::offer) {
        packet head;
        head.what = kind::grant;
        head.id = message.head.id;
        respond(message.from, head);
    }
    used_up(message.from, message.head);
}

ssize_t endpoint::cancel(void const* context) {
    bool found = false;
    for (bool const with_tag : {true, false})
        receives(with_tag).take_all(
            [&](wanted const&, receive const* one) { return !found && one->context == context && (found = true); },
            [&](receive* one) {
                one->finished = true;
                // Otherwise it ends with what is on its way.
                if (one->filling == 0) end(*one, FI_ECANCELED, FI_ADDR_NOTAVAIL);
            });
    return found ? 0 : -FI_ENOENT;
}

} // namespace assay::ofi
