// Connections that are made here, and those that others make.
#include "transports/tcp/tcp_wire.hpp"

#include <algorithm>
#include <fcntl.h>
#include <sys/epoll.h>

namespace assay::tcp {
namespace {

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

} // namespace

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

} // namespace assay::tcp
