// What comes over connections: bytes become frames, in their order.
#include "transports/tcp/tcp_wire.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <sys/epoll.h>

namespace assay::tcp {
namespace {

constexpr int reads_per_poll = 8; // of one connection, so that others get their turn
// The connection that brought something last is read without asking the system which of them has something. Others are not kept
// waiting for more than so many polls, and one that brings nothing so often is not asked first any more.
constexpr int hot_polls = 8, cold_polls = 32;

} // namespace

void tcp_wire::pause(peer who, bool on) {
    for (auto const& one : links_) {
        if (!one || !one->known || one->from != who || one->paused == on) continue;
        one->paused = on;
        watch(*one);
        if (!on) unpaused_.push_back(one->number); // not here: this may be from within a report
    }
}

// Goes on with connections that are not paused any more: nothing else would ask for what is in their stash.
void tcp_wire::take_up() {
    while (!unpaused_.empty()) {
        auto const number = unpaused_.back();
        unpaused_.pop_back();
        if (links_[number] && !links_[number]->error) go_on(*links_[number]);
    }
}

// What came while it was blocked.
void tcp_wire::go_on(link& one) {
    watch(one);
    auto const data = std::exchange(one.stash, {});
    parse(one, data.data(), data.size());
}

// Whether that was enough for this poll.
bool tcp_wire::read_hot() {
    if (!hot_) return false;
    auto const before = counted_.bytes_received;
    read(*hot_);
    settle_broken(); // it may be gone now
    if (counted_.bytes_received != before) {
        if (++hot_polls_ < hot_polls) return true;
    } else if (++cold_polls_ == cold_polls) hot_ = nullptr;
    hot_polls_ = 0;
    return false;
}

// Reads what is there. A payload goes right into its place, and what comes after it into the scratch buffer.
void tcp_wire::read(link& one) {
    for (int round = 0; round < reads_per_poll && !one.error && !one.blocked(); ++round) {
        std::array<iovec, queued_frame::most_pieces> pieces;
        std::size_t count = 0, direct = 0;
        bool const payload = one.in_payload && !one.payload.places().empty();
        if (payload)
            for (auto const& place : one.payload.places().first(
                     std::min(one.payload.places().size(), pieces.size() - 1))) { // the rest has its turn next
                pieces[count++] = place;
                direct += place.iov_len;
            }
        std::size_t wanted = direct;
        // Otherwise more of the payload comes next, and must not go to scratch.
        if (!payload || direct == one.payload.missing()) {
            pieces[count++] = {scratch_.get(), scratch_size};
            wanted += scratch_size;
        }
        ++counted_.reads;
        auto message = message_of(pieces.data(), count);
        auto const got = count == 1 ? recv(one.fd, pieces[0].iov_base, pieces[0].iov_len, MSG_DONTWAIT)
                                    : recvmsg(one.fd, &message, MSG_DONTWAIT);
        // EPIPE: the other side had said that nothing more comes before it refused what went there.
        if (got == 0 || (got < 0 && errno == EPIPE)) {
            if (one.shown) one.shown->ended(false);
            bool const cut = one.in_payload || one.partial_size > 0 || (one.deaf && one.deaf != EPIPE);
            return mark_broken(one, cut ? ECONNRESET : link::ended);
        }
        if (got < 0) {
            if (errno != EAGAIN && errno != EINTR) mark_broken(one, errno);
            return;
        }
        moved_ = true;
        hot_ = &one;
        cold_polls_ = 0;
        auto const n = static_cast<std::size_t>(got);
        if (one.shown) one.shown->received({pieces.data(), count}, n);
        counted_.bytes_received += n;
        auto const placed = std::min(n, direct);
        if (placed > 0) {
            one.payload.fill(placed);
            if (one.payload.missing() == 0) end_payload(one);
        }
        if (n > placed) parse(one, scratch_.get(), n - placed);
        if (n < wanted) return;
    }
}

void tcp_wire::parse(link& one, std::byte const* data, std::size_t size) {
    while (size > 0 && !one.error) {
        if (one.blocked()) {
            one.stash.insert(one.stash.end(), data, data + size);
            return watch(one);
        }
        if (one.in_payload) {
            auto const part = static_cast<std::size_t>(std::min<std::uint64_t>(size, one.payload.missing()));
            one.payload.store(data, part);
            data += part;
            size -= part;
            if (one.payload.missing() == 0) end_payload(one);
            continue;
        }
        std::size_t const whole = one.greeted ? link::prefix_size : link::greeting_size;
        auto const part = std::min(size, whole - one.partial_size);
        std::memcpy(one.partial.data() + one.partial_size, data, part);
        one.partial_size += part;
        data += part;
        size -= part;
        if (one.partial_size < whole) return;
        one.partial_size = 0;
        if (!(one.greeted ? begin(one) : greeted(one))) return mark_broken(one, EPROTO);
    }
    if (one.blocked()) watch(one);
}

// The maker of a connection has said who it is. It is answered on the same connection, unless there is another already.
bool tcp_wire::greeted(link& one) {
    address who;
    if (!one.understand(one.partial.data(), who) || who.size() < suffix_) return false;
    one.greeted = true;
    std::erase_if(mute_, [&](auto const& entry) { return entry.second == one.accepted; });
    one.from = reach(who);
    one.known = true;
    auto& about = peers_[one.from];
    ++about.links;
    auto const order = who.compare(0, who.size() - suffix_, self_);
    if (order == 0) return true; // a connection to itself has both ends here
    if (one.passing) return true;
    if (!about.out) about.out = &one;
    else if (order < 0 && about.out->ours && !about.out->error && !about.out->deaf) move(*about.out, one);
    return true;
}

// Both sides have called each other: from now on frames for the peer go over the connection that it made.
void tcp_wire::move(link& from, link& to) {
    std::array<std::byte, link::prefix_size> mark{};
    std::memcpy(mark.data(), &link::moved, sizeof link::moved);
    std::memcpy(mark.data() + sizeof link::moved, &from.serial, sizeof from.serial);
    to.queue.emplace_back(mark);
    write(to);
    peers_[to.from].out = &to;
    from.leaving = true;
    if (from.queue.empty()) write_off(from);
}

// A frame begins. False: this cannot be the beginning of one.
bool tcp_wire::begin(link& one) {
    std::uint64_t size = 0;
    std::memcpy(&size, one.partial.data(), sizeof size);
    if (size == link::moved) {
        std::uint32_t serial = 0;
        std::memcpy(&serial, one.partial.data() + sizeof size, sizeof serial);
        if (!one.ours || serial == 0) return false;
        if (peers_[one.from].ended < serial) one.waits_for = serial;
        return true;
    }
    ++counted_.frames_received;
    auto const placed = sink_.begun(one.from, one.partial.data() + sizeof size, size);
    one.token = placed.token;
    one.in_payload = true;
    one.payload.expect(size, placed.places);
    if (one.payload.missing() == 0) end_payload(one);
    return true;
}

void tcp_wire::end_payload(link& one) {
    one.in_payload = false;
    one.payload.expect(0);
    sink_.arrived(one.from, one.token);
}

// Another connection may hold frames that were sent after all that went over this one. Their turn has come; or, if this one broke, they
// are lost with what should have come before them.
void tcp_wire::order_after(link const& gone, int error) {
    if (gone.leaving && !error && !gone.queue.empty()) error = ECONNRESET;
    for (std::size_t k = 0; k < links_.size(); ++k) {
        if (!links_[k] || !links_[k]->known || links_[k]->from != gone.from) continue;
        auto& one = *links_[k];
        bool const waits = !gone.ours && one.waits_for != 0 && one.waits_for <= gone.serial;
        if (error && (waits || gone.leaving)) mark_broken(one, error);
        if (error || !waits) continue;
        one.waits_for = 0;
        if (!one.paused) go_on(one);
    }
}

} // namespace assay::tcp
