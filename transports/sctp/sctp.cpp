// Associations: frames become messages of SCTP, and messages frames.
#include "transports/sctp/sctp_wire.hpp"

#include "transports/net/fault.hpp"
#include "transports/net/linger.hpp"

#include <algorithm>
#include <cerrno>
#include <unistd.h>

namespace assay::sctp {
namespace {

constexpr int messages_per_poll = 64;
constexpr std::uint32_t payload_protocol = 0x41535359; // for whoever looks at the packets: ASSY

} // namespace

sctp_wire::peer_state& sctp_wire::about(peer who) {
    if (peers_.size() <= who) peers_.resize(who + 1);
    return peers_[who];
}

// Begins an association; it may turn out later that nobody is there.
sctp_wire::association* sctp_wire::connect(peer to) {
    auto& it = about(to);
    it.link = std::make_unique<association>();
    it.refused = false;
    ++counted_.connections;
    std::lock_guard const lock(stack_.mutex);
    auto const& where = paths_[to];
    set_mtu(where.where);
    auto there = sconn_of(where.name, port_of(where.where));
    // It may be that the other side has begun meanwhile: then this is the same association.
    if (usrsctp_connect(socket_, reinterpret_cast<sockaddr*>(&there), sizeof there) < 0 && errno != EINPROGRESS &&
        errno != EALREADY && errno != EISCONN)
        break_off(to, errno);
    it.link->number = usrsctp_getassocid(socket_, reinterpret_cast<sockaddr*>(&there));
    return it.link.get();
}

bool sctp_wire::ready(peer to) {
    auto const& it = about(to);
    if (it.refused || to == self_) return true;
    auto const& link = it.link ? *it.link : *connect(to);
    return link.up || it.broken;
}

std::uint16_t sctp_wire::stream_of(association const& by, net::flow const& where) const {
    if (where.control || by.streams < 2) return 0;
    std::uint64_t mixed = 0;
    switch (net::planted(fault::one_stream) ? stream_map::single : how_.map) {
    case stream_map::tag_and_context: mixed = std::uint64_t{where.context} << 32 | where.tag; break;
    case stream_map::tag: mixed = where.tag; break;
    case stream_map::context: mixed = where.context; break;
    case stream_map::single: break;
    }
    mixed *= 0x9e3779b97f4a7c15; // neighbours go to different streams
    return static_cast<std::uint16_t>(1 + (mixed >> 32) % (by.streams - 1u));
}

bool sctp_wire::send(peer to, void const* head, std::span<iovec const> payload, net::flow const& where, memory how,
                     void* token) {
    ++counted_.frames_sent;
    if (to == self_) {
        auto& kept = to_itself_.emplace_back();
        std::memcpy(kept.head.data(), head, kept.head.size());
        for (auto const& piece : payload) {
            auto const* const bytes = static_cast<std::byte const*>(piece.iov_base);
            kept.payload.insert(kept.payload.end(), bytes, bytes + piece.iov_len);
        }
        return true;
    }
    auto* link = about(to).link.get();
    if (!link) link = connect(to);
    bool const at_once = link->up && link->out.empty() && !peers_[to].broken;
    auto const pick = [&](net::flow const& flow) { return stream_of(*link, flow); };
    if (!at_once || !link->out.add_whole(head, payload, where, pick)) link->out.add(head, payload, where);
    if (at_once) push(to);
    if (link->out.empty()) return true;
    waiting_.insert(to);
    auto* const rest = link->out.last(where.unordered);
    if (how == memory::copy) {
        if (rest) rest->payload.own();
        return true;
    }
    if (rest) rest->token = token;
    else link->out.tell_when_gone(token);
    return false;
}

// Sends what the association takes now. Whoever waits for borrowed memory is told: only poll() may have such.
void sctp_wire::push(peer to) {
    auto& one = *peers_[to].link;
    auto& to_send = one.out;
    if (!one.up || one.leaving || peers_[to].broken) return;
    auto const pick = [&](net::flow const& where) { return stream_of(one, where); };
    while (to_send.fill(pick)) {
        void* gone = nullptr;
        if (net::planted(fault::lost_fragment) && !to_send.first()) gone = to_send.advance(to_send.rest());
        else {
            auto const sent = hand_over(one);
            if (sent <= 0) {
                // An association that is gone is reported by the stack, after what came before its end.
                if (errno == EINVAL || errno == EMSGSIZE) break_off(to, errno);
                return;
            }
            moved_ = true;
            gone = to_send.advance(static_cast<std::size_t>(sent));
        }
        if (gone) sink_.sent(gone);
    }
    waiting_.erase(to);
}

// Gives the stack the next fragment; returns how much of it it took.
ssize_t sctp_wire::hand_over(association const& to) {
    sctp_sndinfo info{};
    info.snd_sid = to.out.stream();
    info.snd_flags = SCTP_EOR;
    info.snd_ppid = htonl(payload_protocol);
    info.snd_assoc_id = to.number; // not the address: that would make a new association of one that is gone
    std::lock_guard const lock(stack_.mutex);
    return usrsctp_sendv(socket_, to.out.data(), to.out.rest(), nullptr, 0, &info, sizeof info, SCTP_SENDV_SNDINFO, 0);
}

void sctp_wire::withdraw(void* token) {
    for (auto& one : peers_)
        if (one.link)
            one.link->in.each_begun([token](arriving& it) {
                if (it.token == token) it.payload.drop_places();
            });
}

bool sctp_wire::poll() {
    moved_ = !broken_.empty() || !to_itself_.empty();
    std::vector<peer> refused;
    message_in next;
    // What comes first is on its way to the program before the stack is asked whether that was all: the next poll does that.
    int most = messages_per_poll;
    {
        std::lock_guard const lock(stack_.mutex);
        polled = true;
        if (std::exchange(woken_, false)) {
            std::uint64_t ignored = 0;
            (void)!::read(event_, &ignored, sizeof ignored);
        }
        bool const asked = !look;
        bool const came = receive(false);
        if (asked && came) most = packets_;
        moved_ |= came;
        stack_.pass_time();
        refused = take_refused();
        if (look) next = next_message();
    }
    deliver_to_itself();
    // What a peer has sent before it went is taken first.
    for (int count = 1; next.size > 0; ++count) {
        moved_ = true;
        take(next);
        next.size = 0;
        if (count >= most && refused.empty()) break;
        std::lock_guard const lock(stack_.mutex);
        next = next_message();
    }
    for (auto const who : refused) break_off(who, ECONNREFUSED);
    settle_broken();
    for (auto const to : std::vector<peer>(waiting_.begin(), waiting_.end()))
        if (peers_[to].link) push(to);
    settle_broken();
    return moved_;
}

void sctp_wire::deliver_to_itself() {
    for (auto left = to_itself_.size(); left > 0; --left) {
        auto const it = std::move(to_itself_.front());
        to_itself_.pop_front();
        ++counted_.frames_received;
        auto const placed = sink_.begun(self_, it.head.data(), it.payload.size());
        auto* const token = placed.token;
        net::incoming place;
        place.expect(it.payload.size(), placed.places);
        place.store(it.payload.data(), it.payload.size());
        sink_.arrived(self_, token);
    }
}

// With the stack's lock.
sctp_wire::message_in sctp_wire::next_message() {
    sockaddr_conn from{};
    sctp_rcvinfo info{};
    socklen_t from_size = sizeof from, info_size = sizeof info;
    unsigned kind = 0;
    message_in found;
    peer by = 0;
    do {
        from_size = sizeof from, info_size = sizeof info;
        found.size = usrsctp_recvv(socket_, scratch_.data(), scratch_.size(), reinterpret_cast<sockaddr*>(&from),
                                   &from_size, &info, &info_size, &kind, &found.flags);
        look = found.size > 0;
    } while (look && !stack_.knows(from.sconn_addr, by)); // of a stranger that has been forgotten
    if (look) {
        paths_[by].stranger = false; // from here on the program may know its number
        found.from = paths_[by].of;
    }
    return found;
}

void sctp_wire::take(message_in const& it) {
    auto const size = static_cast<std::size_t>(it.size);
    if (it.flags & MSG_NOTIFICATION) {
        sctp_notification what{};
        std::memcpy(&what, scratch_.data(), std::min(size, sizeof what));
        notified(it.from, what);
    } else data(it.from, scratch_.data(), size, it.flags & MSG_EOR);
}

void sctp_wire::notified(peer who, sctp_notification const& what) {
    auto* link = about(who).link.get();
    if (what.sn_header.sn_type == SCTP_SHUTDOWN_EVENT) {
        if (link && link->number == what.sn_shutdown_event.sse_assoc_id) link->leaving = true;
        return;
    }
    if (what.sn_header.sn_type == SCTP_PEER_ADDR_CHANGE && what.sn_paddr_change.spc_state == SCTP_ADDR_UNREACHABLE)
        ++counted_.paths_lost;
    if (what.sn_header.sn_type != SCTP_ASSOC_CHANGE) return;
    auto const& change = what.sn_assoc_change;
    switch (change.sac_state) {
    case SCTP_RESTART: // somebody else at the same address
        if (link) finish(who, ECONNRESET);
        [[fallthrough]];
    case SCTP_COMM_UP: begin_link(who, change); break;
    case SCTP_COMM_LOST:
    case SCTP_CANT_STR_ASSOC:
    case SCTP_SHUTDOWN_COMP: {
        if (!link || link->number != change.sac_assoc_id) return; // one that was given up here
        if (change.sac_state == SCTP_SHUTDOWN_COMP || (link->leaving && change.sac_state == SCTP_COMM_LOST))
            finish(who, 0);
        else finish(who, link->up ? ECONNRESET : ETIMEDOUT);
        break;
    }
    default: break;
    }
}

void sctp_wire::begin_link(peer who, sctp_assoc_change const& change) {
    auto& it = peers_[who];
    if (!it.link) {
        it.link = std::make_unique<association>();
        ++counted_.accepted;
    }
    it.refused = false;
    it.link->up = true;
    it.link->number = change.sac_assoc_id;
    it.link->streams = std::min(how_.streams, change.sac_outbound_streams);
    if (!it.link->out.empty()) waiting_.insert(who);
}

void sctp_wire::data(peer who, std::byte const* bytes, std::size_t size, bool last) {
    auto& it = about(who);
    if (!it.link || it.broken) return; // of an association that was given up
    auto& in = it.link->in;
    if (!last || !in.partial.empty()) {
        in.partial.insert(in.partial.end(), bytes, bytes + size);
        if (in.partial.size() > fragment_size) return break_off(who, EPROTO);
        if (!last) return;
    }
    auto const whole = std::exchange(in.partial, {});
    if (!whole.empty()) {
        bytes = whole.data();
        size = whole.size();
    }
    auto const held = in.held;
    bool const in_order = how_.ordered && !net::planted(fault::overtaking);
    bool const good = in.take(
        bytes, size, in_order,
        [&](std::byte const* head, std::uint64_t length) {
            ++counted_.frames_received;
            return sink_.begun(who, head, length);
        },
        [&](void* token) { sink_.arrived(who, token); });
    counted_.held += in.held - held;
    if (!good) break_off(who, EPROTO);
}

// Errors are found where nobody may be told of them.
void sctp_wire::break_off(peer who, int error) {
    auto& it = about(who);
    if (!it.link || it.broken) return;
    it.broken = error;
    broken_.push_back(who);
}

void sctp_wire::settle_broken() {
    while (!broken_.empty()) {
        auto const who = broken_.back();
        broken_.pop_back();
        auto& it = peers_[who];
        int const error = std::exchange(it.broken, 0);
        if (!it.link || !error) continue;
        moved_ = true;
        {
            std::lock_guard const lock(stack_.mutex);
            abort(it.link->number);
        }
        // Who was there and is not any more has not refused.
        finish(who, error == ECONNREFUSED && it.link->up ? ECONNRESET : error);
    }
}

void sctp_wire::finish(peer who, int error) {
    auto const gone = std::move(peers_[who].link);
    peers_[who].refused = error != 0;
    waiting_.erase(who);
    gone->in.each_begun([&](arriving const& it) { sink_.lost(it.token); });
    gone->out.each_token([&](void* token) { sink_.failed(token, error ? error : ECONNRESET); });
    sink_.closed(who, error);
}

// Pieces and chunks that other sides have not acknowledged.
std::uint64_t sctp_wire::unacknowledged() {
    std::lock_guard const lock(stack_.mutex);
    std::uint64_t sum = to_itself_.size();
    for (auto const& one : peers_) {
        if (!one.link) continue;
        sum += one.link->out.waiting();
        sctp_status status{};
        socklen_t size = sizeof status;
        status.sstat_assoc_id = one.link->number;
        if (usrsctp_getsockopt(socket_, IPPROTO_SCTP, SCTP_STATUS, &status, &size) == 0)
            sum += status.sstat_unackdata + status.sstat_penddata;
    }
    return sum;
}

bool sctp_wire::flush(milliseconds limit) {
    poll();
    return net::linger(
        wait_fd(), limit, [this] { return unacknowledged(); }, [this] { poll(); });
}

net::counters const& sctp_wire::counted() const {
    std::lock_guard const lock(stack_.mutex);
    counted_.writes = counted_.bytes_sent = counted_.reads = counted_.bytes_received = 0;
    for (auto const& one : datagrams_) {
        counted_.writes += one->sent;
        counted_.bytes_sent += one->sent_bytes;
        counted_.reads += one->received;
        counted_.bytes_received += one->received_bytes;
    }
    if (network_) counted_.dropped = network_->lost;
    return counted_;
}

std::unique_ptr<net::wire> make(net::sink& sink, options const& how) { return std::make_unique<sctp_wire>(sink, how); }

} // namespace assay::sctp
