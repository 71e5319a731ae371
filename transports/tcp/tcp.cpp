#include "transports/tcp/tcp.hpp"

#include "transports/net/interfaces.hpp"
#include "transports/net/linger.hpp"
#include "transports/tcp/connections.hpp"
#include "transports/tcp/link.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <deque>
#include <fcntl.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <new>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <system_error>
#include <unistd.h>
#include <unordered_map>
#include <utility>
#include <vector>

namespace assay::tcp {
namespace {

using net::address;
using net::as_sockaddr;
using net::length;
using net::memory;
using net::peer;

// What one read takes at most beyond a payload's place: many short messages, but little of a long one, because that is
// copied once more.
constexpr std::size_t scratch_size = 16 * 1024;
constexpr std::size_t joined_size = 4 * 1024; // copying so much is faster than to have the system collect it
constexpr int reads_per_poll = 8;             // of one connection, so that others get their turn
constexpr int events_per_poll = 64;
// The connection that brought something last is read without asking the system which of them has something. Others are not kept
// waiting for more than so many polls, and one that brings nothing so often is not asked first any more.
constexpr int hot_polls = 8, cold_polls = 32;

[[noreturn]] void fail(char const* what) { throw std::system_error(errno, std::generic_category(), what); }

msghdr message_of(iovec* pieces, std::size_t count) {
    msghdr message{};
    message.msg_iov = pieces;
    message.msg_iovlen = count;
    return message;
}

void set(int fd, int option, int value); // of IPPROTO_TCP

// tcp(7): probes while nothing is on its way, and a limit for what is not acknowledged.
void notice_silence(int fd, std::chrono::milliseconds limit) {
    int const on = 1;
    int const seconds = static_cast<int>(std::max<std::chrono::milliseconds::rep>(limit.count() / 3000, 1));
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    set(fd, TCP_KEEPIDLE, seconds);
    set(fd, TCP_KEEPINTVL, seconds);
    set(fd, TCP_KEEPCNT, 2);
    set(fd, TCP_USER_TIMEOUT, static_cast<int>(limit.count()));
}

void set(int fd, int option, int value) { setsockopt(fd, IPPROTO_TCP, option, &value, sizeof value); }

class tcp_wire final : public connections {
public:
    tcp_wire(net::sink& sink, options const& how, std::size_t suffix) : sink_(sink), how_(how), suffix_(suffix) {
        epoll_ = epoll_create1(EPOLL_CLOEXEC);
        if (epoll_ < 0) fail("epoll_create1");
        take_spare();
        scratch_ = std::make_unique_for_overwrite<std::byte[]>(scratch_size); // takes memory when it is first used
        if (!how.pcap.empty()) pcap_ = std::make_unique<net::pcap>(how.pcap);
    }
    ~tcp_wire() override {
        for (auto& one : links_) {
            if (!one) continue;
            shut(*one);
            if (one->in_payload) sink_.lost(one->token);
            for (auto const& frame : one->queue)
                if (frame.token) sink_.failed(frame.token, ECANCELED);
        }
        if (listener_ >= 0) ::close(listener_);
        if (spare_ >= 0) ::close(spare_);
        ::close(epoll_);
    }

    address listen(address const& where) override;
    peer reach(address const& where) override;
    address const& address_of(peer who) const override { return *peers_[who].where; }
    bool ready(peer to) override;
    bool send(peer to, void const* head, std::span<iovec const> payload, net::flow const& where, memory how,
              void* token) override;
    void withdraw(void* token) override;
    void keep(void* token) override;
    void give_up(peer which, int error) override;
    bool poll() override;
    int wait_fd() const override { return epoll_; }
    bool flush(std::chrono::milliseconds limit) override;
    std::uint64_t backlog(peer to) const override {
        auto const* const out = peers_[to].out;
        return out ? out->waiting() : 0;
    }
    net::counters const& counted() const override { return counted_; }

    bool has(peer who) const override { return peers_[who].out; }
    void call(peer who) override {
        if (!peers_[who].out) connect(who);
    }
    void drop(peer who, int error) override;
    std::uint64_t unacknowledged() const override;

private:
    struct peer_state {
        address const* where = nullptr; // the key in by_address_
        link* out = nullptr;            // the connection that frames for this peer go by
        unsigned links = 0;             // connections that are open
        std::uint32_t ended = 0;        // the serial number of the last of its connections over which all has come
        bool refused = false;           // the last one that was tried
    };

    link& add(int fd, int error = 0);
    link* connect(peer to);
    void accept_all();
    int accept_one();
    void take_calls(bool all);
    void take_spare();
    void take_calls_again();
    void end_mute();
    void show(link& one, address const& there, bool called);
    void watch(link& one);
    ssize_t write_new(link& to, void const* head, std::span<iovec const> payload);
    void read(link& one);
    void write(link& one);
    bool read_hot();
    void parse(link& one, std::byte const* data, std::size_t size);
    bool greeted(link& one);
    bool begin(link& one);
    void move(link& from, link& to);
    void not_written(link& one, int error);
    void write_off(link& one);
    void order_after(link const& gone, int error);
    void end_payload(link& one);
    void drop(link& one, int error);
    void mark_broken(link& one, int error);
    void settle_broken();
    void shut(link& one);
    void cork(link& one);
    void uncork();

    net::sink& sink_;
    options how_;
    std::size_t suffix_; // bytes after the socket address in the name of a peer
    int epoll_ = -1, listener_ = -1;
    int spare_ = -1;           // a descriptor for when there is no other: -1 while a connection has it
    bool passing_ = false;     // there is one
    bool takes_calls_ = false; // the listener is watched
    // Connections that others have made and that have not said yet whose they are, the oldest first.
    std::deque<std::pair<std::chrono::steady_clock::time_point, std::uint64_t>> mute_;
    std::uint64_t accepted_ = 0; // numbers them
    address self_;
    std::vector<std::unique_ptr<link>> links_;
    std::vector<std::size_t> free_links_;
    std::vector<link*> broken_;       // to be reported by the next poll()
    std::vector<std::size_t> corked_; // numbers of those that hold back what makes no full packet
    std::vector<peer_state> peers_;
    std::unordered_map<address, peer> by_address_;
    std::unique_ptr<std::byte[]> scratch_;
    link* hot_ = nullptr; // the connection that brought something last
    int hot_polls_ = 0, cold_polls_ = 0;
    std::uint32_t serial_ = 0; // of the last connection that was made here
    std::unique_ptr<net::pcap> pcap_;
    net::counters counted_;
    bool moved_ = false;
};

address tcp_wire::listen(address const& where) {
    address const at = where.empty() ? net::any_port() : where;
    listener_ = socket(as_sockaddr(at)->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (listener_ < 0) fail("socket");
    // A port that is asked for may be that of an endpoint that was closed just now: its connections linger, and both have to agree.
    // Whoever asks for any port gets one that nobody has.
    bool const any =
        reinterpret_cast<sockaddr_in const*>(as_sockaddr(at))->sin_port == 0; // sockaddr_in6 has it there, too
    auto const share = [&] {
        int const on = 1;
        setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    };
    if (!any) share();
    if (bind(listener_, as_sockaddr(at), length(at)) < 0) fail("bind");
    if (any) share();
    if (::listen(listener_, SOMAXCONN) < 0) fail("listen");
    take_calls(true);
    if (!takes_calls_) fail("epoll_ctl");
    self_ = net::bound_to(listener_);
    return self_;
}

peer tcp_wire::reach(address const& where) {
    auto const [at, added] = by_address_.try_emplace(where, static_cast<peer>(peers_.size()));
    if (added) peers_.push_back({&at->first});
    return at->second;
}

// Without a descriptor it is broken from the beginning, and `error` says why.
link& tcp_wire::add(int fd, int error) {
    if (fd >= 0) {
        set(fd, TCP_NODELAY, how_.nodelay ? 1 : 0);
        if (how_.buffer > 0) {
            setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &how_.buffer, sizeof how_.buffer);
            setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &how_.buffer, sizeof how_.buffer);
        }
        if (how_.timeout.count() > 0) notice_silence(fd, how_.timeout);
    }
    std::size_t number = links_.size();
    if (free_links_.empty()) links_.emplace_back();
    else {
        number = free_links_.back();
        free_links_.pop_back();
    }
    links_[number] = std::make_unique<link>();
    link& one = *links_[number];
    one.fd = fd;
    one.number = number;
    epoll_event event{.events = EPOLLIN, .data = {.ptr = &one}};
    if (error) mark_broken(one, error);
    else if (epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event) < 0) mark_broken(one, errno);
    return one;
}

// Begins a connection; it may turn out later that nobody is there.
link* tcp_wire::connect(peer to) {
    address const& where = *peers_[to].where;
    int const fd = socket(as_sockaddr(where)->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    link& one = add(fd, fd < 0 ? errno : 0);
    one.from = to;
    one.known = one.ours = true;
    one.serial = ++serial_;
    peers_[to].out = &one;
    peers_[to].refused = false;
    ++peers_[to].links;
    ++counted_.connections;
    one.greet(self_ + where.substr(where.size() - suffix_));
    if (fd < 0) return &one;
    if (::connect(fd, as_sockaddr(where), length(where) - static_cast<socklen_t>(suffix_)) < 0) {
        if (errno != EINPROGRESS) mark_broken(one, errno);
    }
    one.connecting = !one.error; // until the greeting is written
    watch(one);
    return &one;
}

void tcp_wire::accept_all() {
    while (takes_calls_) {
        int fd = accept_one();
        bool const passing = fd < 0 && (errno == EMFILE || errno == ENFILE) && spare_ >= 0;
        if (passing) {
            // What the caller has sent must not vanish. So it is read, with the descriptor that was kept for this, and the caller
            // is told at once that nothing goes the other way: it ends the connection after what it has sent, and may call again.
            ::close(std::exchange(spare_, -1));
            fd = accept_one();
        }
        if (fd < 0) {
            if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED) take_calls(false);
            return take_spare();
        }
        sockaddr_storage from{};
        socklen_t size = sizeof from;
        ::getpeername(fd, reinterpret_cast<sockaddr*>(&from), &size);
        link& one = add(fd);
        show(one, net::from_sockaddr(reinterpret_cast<sockaddr const*>(&from)), false);
        ++counted_.accepted;
        moved_ = true;
        one.accepted = ++accepted_;
        mute_.emplace_back(std::chrono::steady_clock::now() + how_.greeting, one.accepted);
        if (!passing) continue;
        one.passing = passing_ = true;
        write_off(one);
        take_calls(false); // the caller's next connection comes after this one
    }
}

int tcp_wire::accept_one() { return accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC); }

void tcp_wire::take_spare() {
    if (spare_ < 0) spare_ = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
}

void tcp_wire::take_calls_again() {
    take_spare();
    take_calls(spare_ >= 0);
}

// Whether the listener is watched. It stays readable while somebody calls, so whoever cannot take calls must not look at it.
void tcp_wire::take_calls(bool all) {
    if (all == takes_calls_ || listener_ < 0) return;
    epoll_event event{.events = EPOLLIN, .data = {.ptr = nullptr}};
    if (epoll_ctl(epoll_, all ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, listener_, &event) == 0) takes_calls_ = all;
}

// Ends connections whose makers have not said in time who they are.
void tcp_wire::end_mute() {
    auto const now = std::chrono::steady_clock::now();
    while (!mute_.empty() && mute_.front().first <= now) {
        auto const which = mute_.front().second;
        mute_.pop_front();
        for (auto const& one : links_)
            if (one && one->accepted == which && !one->greeted) mark_broken(*one, ETIMEDOUT);
    }
}

// The packet file shows that there is a connection.
void tcp_wire::show(link& one, address const& there, bool called) {
    if (!pcap_) return;
    one.shown = std::make_unique<net::pcap_connection>(*pcap_, net::bound_to(one.fd), there, called);
}

// Asks for EPOLLOUT only while there is something to write.
void tcp_wire::watch(link& one) {
    unsigned const wanted =
        (one.connecting || (!one.queue.empty() && !one.deaf) ? EPOLLOUT : 0u) | (one.waits_for == 0 ? EPOLLIN : 0u);
    if (wanted == one.watched || one.error) return;
    one.watched = wanted;
    epoll_event event{.events = wanted, .data = {.ptr = &one}};
    epoll_ctl(epoll_, EPOLL_CTL_MOD, one.fd, &event);
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
    if (read_hot()) return true;
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
    }
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
    for (int round = 0; round < reads_per_poll && !one.error && one.waits_for == 0; ++round) {
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
        if (one.waits_for != 0) {
            one.stash.assign(data, data + size);
            return watch(one);
        }
    }
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
        watch(one);
        auto const data = std::exchange(one.stash, {});
        parse(one, data.data(), data.size());
    }
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

} // namespace

std::unique_ptr<connections> make_connections(net::sink& sink, options const& how, std::size_t suffix) {
    return std::make_unique<tcp_wire>(sink, how, suffix);
}

std::unique_ptr<net::wire> make(net::sink& sink, options const& how) {
    if (how.streams > 1) return make_streams(sink, how);
    return make_connections(sink, how);
}

} // namespace assay::tcp
