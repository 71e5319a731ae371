// What goes out, what a poll does, and how connections end.
#include "transports/tcp/tcp_wire.hpp"

#include "transports/net/linger.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <linux/sockios.h>
#include <new>
#include <sys/epoll.h>
#include <sys/ioctl.h>

namespace assay::tcp {
namespace {

constexpr std::size_t joined_size = 4 * 1024; // copying so much is faster than to have the system collect it
constexpr int events_per_poll = 64;

} // namespace

peer tcp_wire::reach(address const& where) {
    auto const [at, added] = by_address_.try_emplace(where, static_cast<peer>(peers_.size()));
    if (added) peers_.push_back({&at->first});
    return at->second;
}

// Asks for EPOLLOUT only while there is something to write.
void tcp_wire::watch(link& one) {
    unsigned const wanted =
        (one.connecting || (!one.queue.empty() && !one.deaf) ? EPOLLOUT : 0u) | (one.blocked() ? 0u : EPOLLIN);
    if (one.error || (one.listed ? wanted == one.watched : one.blocked())) return;
    one.watched = wanted;
    epoll_event event{.events = wanted, .data = {.ptr = &one}};
    epoll_ctl(epoll_, std::exchange(one.listed, true) ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, one.fd, &event);
}

bool tcp_wire::ready(peer to) {
    auto const& about = peers_[to];
    if (about.refused) return true;
    auto const& out = about.out ? *about.out : *connect(to);
    return out.error || !out.connecting;
}

bool tcp_wire::send(peer to, void const* head, std::span<iovec const> payload, net::flow const&, memory how,
                    void* token) {
    link* out = peers_[to].out;
    if (!out) out = connect(to);
    ++counted_.frames_sent;
    std::size_t done = 0;
    if (out->queue.empty() && !out->connecting && !out->error && !out->deaf) {
        if (how_.cork) cork(*out);
        auto const n = write_new(*out, head, payload);
        if (n < 0) not_written(*out, errno);
        else if (n > 0) done = static_cast<std::size_t>(n);
        counted_.bytes_sent += done;
        if (done == link::prefix_size + net::bytes_of(payload)) return true;
    }
    try {
        queued_frame frame(head, payload);
        frame.advance(done);
        if (how == memory::copy) frame.own();
        else frame.token = token;
        out->push(std::move(frame));
    } catch (std::bad_alloc const&) {
        if (done > 0) mark_broken(*out, ENOMEM); // the other side waits for the rest of it
        throw;
    }
    watch(*out);
    return how == memory::copy;
}

// Nearly all frames are sent at once, so nothing is kept of them.
ssize_t tcp_wire::write_new(link& to, void const* head, std::span<iovec const> payload) {
    ++counted_.writes;
    std::uint64_t const size = net::bytes_of(payload);
    std::array<std::byte, link::prefix_size + joined_size> joined;
    std::memcpy(joined.data(), &size, sizeof size);
    std::memcpy(joined.data() + sizeof size, head, net::head_size);
    std::array<iovec, queued_frame::most_pieces> pieces{{{joined.data(), link::prefix_size}}};
    std::size_t count = 1;
    if (size <= joined_size) {
        auto& front = pieces[0].iov_len;
        for (auto const& one : payload) {
            if (one.iov_len > 0) std::memcpy(joined.data() + front, one.iov_base, one.iov_len);
            front += one.iov_len;
        }
    } else {
        for (auto const& one : payload)
            if (one.iov_len > 0 && count < pieces.size()) pieces[count++] = one;
    }
    auto const message = message_of(pieces.data(), count);
    auto const n = count == 1 ? ::send(to.fd, joined.data(), pieces[0].iov_len, MSG_NOSIGNAL | MSG_DONTWAIT)
                              : sendmsg(to.fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n > 0 && to.shown) to.shown->sent({pieces.data(), count}, static_cast<std::size_t>(n));
    return n;
}

void tcp_wire::cork(link& one) {
    if (one.corked) return;
    one.corked = true;
    set(one.fd, TCP_CORK, 1);
    corked_.push_back(one.number);
}

// Sends what was held back.
void tcp_wire::uncork() {
    for (auto const number : corked_)
        if (auto const& one = links_[number]; one && one->corked) {
            one->corked = false;
            set(one->fd, TCP_CORK, 0);
        }
    corked_.clear();
}

void tcp_wire::withdraw(void* token) {
    for (auto& one : links_)
        if (one && one->in_payload && one->token == token) one->payload.drop_places();
}

void tcp_wire::keep(void* token) {
    for (auto& one : links_)
        if (one)
            for (auto& frame : one->queue)
                if (frame.token == token) frame.own();
}

void tcp_wire::give_up(peer which, int error) {
    for (auto const& one : links_)
        if (one && one->known && one->from == which) mark_broken(*one, error);
}

bool tcp_wire::poll() {
    if (!mute_.empty()) end_mute();
    if (!takes_calls_ && !passing_) take_calls_again();
    moved_ = !broken_.empty();
    if (!corked_.empty()) uncork();
    settle_broken();
    if (read_hot()) {
        take_up();
        return true;
    }
    std::array<epoll_event, events_per_poll> events;
    int const count = epoll_wait(epoll_, events.data(), events_per_poll, 0);
    for (int k = 0; k < count; ++k) {
        auto& event = events[static_cast<std::size_t>(k)];
        if (!event.data.ptr) {
            accept_all();
            continue;
        }
        auto& one = *static_cast<link*>(event.data.ptr);
        if (one.error) continue; // found broken by what came before it in this round
        if (event.events & (EPOLLOUT | EPOLLERR | EPOLLHUP)) write(one);
        if (!one.error && event.events & (EPOLLIN | EPOLLERR | EPOLLHUP)) read(one);
        // It has ended, which epoll would say for ever; what it has brought is still read when its turn comes.
        if (!one.error && one.blocked() && event.events & (EPOLLERR | EPOLLHUP))
            one.listed = epoll_ctl(epoll_, EPOLL_CTL_DEL, one.fd, nullptr) != 0;
    }
    take_up();
    settle_broken();
    return moved_;
}

void tcp_wire::write(link& one) {
    if (one.connecting) {
        int error = 0;
        socklen_t size = sizeof error;
        if (getsockopt(one.fd, SOL_SOCKET, SO_ERROR, &error, &size) < 0) error = errno;
        if (error) return mark_broken(one, error);
        one.connecting = false;
        show(one, *peers_[one.from].where, true);
    }
    while (!one.queue.empty() && !one.deaf) {
        std::array<iovec, 4 * queued_frame::most_pieces> pieces;
        std::size_t count = 0;
        for (auto const& frame : one.queue) {
            if (count + queued_frame::most_pieces > pieces.size()) break;
            count += frame.rest(pieces.data() + count, pieces.size() - count);
        }
        auto const message = message_of(pieces.data(), count);
        ++counted_.writes;
        auto const n = sendmsg(one.fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n < 0) {
            not_written(one, errno);
            break;
        }
        moved_ = true;
        if (one.shown) one.shown->sent({pieces.data(), count}, static_cast<std::size_t>(n));
        counted_.bytes_sent += static_cast<std::uint64_t>(n);
        one.written(static_cast<std::size_t>(n), [this](void* token) { sink_.sent(token); });
    }
    if (one.leaving && one.queue.empty()) write_off(one);
    watch(one);
}

// When the other side has gone, this side still reads what it had sent before, and finds the end of the connection after that. When
// this side lacks memory, or cannot read the payload, nothing announces the end: the connection is broken at once.
void tcp_wire::not_written(link& one, int error) {
    if (error == EAGAIN || error == EINTR) return;
    if (error == EFAULT || error == ENOMEM || error == ENOBUFS) mark_broken(one, error);
    else one.deaf = error;
}

void tcp_wire::write_off(link& one) {
    if (std::exchange(one.written_off, true)) return;
    ::shutdown(one.fd, SHUT_WR);
    if (one.shown) one.shown->ended(true);
}

// Errors are found inside send(), whose caller does not expect a report: the next poll() reports them.
void tcp_wire::mark_broken(link& one, int error) {
    if (one.error) return;
    one.error = error;
    broken_.push_back(&one);
}

void tcp_wire::drop(peer who, int error) {
    give_up(who, error ? error : link::ended);
    settle_broken();
}

void tcp_wire::settle_broken() {
    while (!broken_.empty()) {
        auto* const one = broken_.back();
        broken_.pop_back();
        drop(*one, one->error == link::ended ? 0 : one->error);
    }
}

void tcp_wire::drop(link& one, int error) {
    if (hot_ == &one) hot_ = nullptr;
    auto const gone = std::move(links_[one.number]);
    free_links_.push_back(one.number);
    shut(*gone);
    std::erase_if(mute_, [&](auto const& entry) { return entry.second == gone->accepted; });
    if (gone->passing) passing_ = false;
    if (!takes_calls_ && !passing_)
        take_calls_again(); // now: whoever sleeps until there is something to do does not poll
    if (gone->in_payload) sink_.lost(gone->token);
    if (!gone->known) return;
    auto const who = gone->from;
    if (peers_[who].out == gone.get()) {
        peers_[who].out = nullptr;
        peers_[who].refused = error != 0;
    }
    bool const last = --peers_[who].links == 0;
    if (!gone->ours && !error) peers_[who].ended = std::max(peers_[who].ended, gone->serial);
    for (auto const& frame : gone->queue)
        if (frame.token) sink_.failed(frame.token, error ? error : ECONNRESET);
    if (last) sink_.closed(who, error);
    else order_after(*gone, error);
}

// Shuts down before it closes: a close with unread input would reset the connection, and what was written would not arrive.
void tcp_wire::shut(link& one) {
    if (one.fd < 0) return;
    write_off(one);
    while (recv(one.fd, scratch_.get(), scratch_size, MSG_DONTWAIT) > 0) {}
    ::close(one.fd);
    one.fd = -1;
}

// Bytes that the other side has not acknowledged. Those that it has are safe: it reads them even when the connection is
// reset, which happens as soon as it writes to an end that is closed.
std::uint64_t tcp_wire::unacknowledged() const {
    std::uint64_t sum = 0;
    for (auto const& one : links_) {
        if (!one || one->error || one->deaf) continue;
        int held = 0;
        if (ioctl(one->fd, SIOCOUTQ, &held) == 0) sum += static_cast<std::uint64_t>(held);
        sum += one->waiting();
    }
    return sum;
}

bool tcp_wire::flush(std::chrono::milliseconds limit) {
    // poll() reads, too: the other side may wait for us to take what it sends
    return net::linger(
        epoll_, limit, [this] { return unacknowledged(); }, [this] { poll(); });
}

std::unique_ptr<connections> make_connections(net::sink& sink, options const& how, std::size_t suffix) {
    return std::make_unique<tcp_wire>(sink, how, suffix);
}

std::unique_ptr<net::wire> make(net::sink& sink, options const& how) {
    if (how.streams > 1) return make_streams(sink, how);
    return make_connections(sink, how);
}

} // namespace assay::tcp
