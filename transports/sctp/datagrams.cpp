#include "transports/sctp/datagrams.hpp"

#include "transports/net/interfaces.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <linux/errqueue.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace assay::sctp {
namespace {

using net::address;
using net::as_sockaddr;
using net::length;

constexpr std::size_t longest = 64 * 1024;
constexpr unsigned batch = 8, batches = 8; // packets of one call of the system, and calls of one receive()
constexpr unsigned in_a_row = 8;           // so many calls found a packet: the next ones ask for several
constexpr int buffer = 4 * 1024 * 1024;    // of the system: what it drops has to be sent again

// What recvmmsg(2) writes to.
struct places {
    std::array<std::array<std::byte, longest>, batch> buffers;
    std::array<sockaddr_storage, batch> from{};
    std::array<iovec, batch> pieces{};
    std::array<mmsghdr, batch> messages{};

    places() {
        for (unsigned k = 0; k < batch; ++k) {
            pieces[k] = {buffers[k].data(), longest};
            auto& one = messages[k].msg_hdr;
            one.msg_name = &from[k];
            one.msg_namelen = sizeof from[k];
            one.msg_iov = &pieces[k];
            one.msg_iovlen = 1;
        }
    }
};

// One for all: whoever receives has the stack's lock.
places& room() {
    static auto* const one = new places;
    return *one;
}

[[noreturn]] void fail(char const* what) { throw std::system_error(errno, std::generic_category(), what); }

bool is_v6(address const& where) { return where.size() == sizeof(sockaddr_in6); }

// Beyond the system's limit only for root.
void enlarge(int fd, int forced, int usual) {
    if (setsockopt(fd, SOL_SOCKET, forced, &buffer, sizeof buffer) < 0)
        setsockopt(fd, SOL_SOCKET, usual, &buffer, sizeof buffer);
}

} // namespace

datagrams::datagrams(address const& where) {
    fd_ = socket(as_sockaddr(where)->sa_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd_ < 0) fail("socket");
    if (bind(fd_, as_sockaddr(where), length(where)) < 0) {
        int const error = errno;
        ::close(fd_);
        errno = error;
        fail("bind");
    }
    self_ = net::bound_to(fd_);
    enlarge(fd_, SO_RCVBUFFORCE, SO_RCVBUF);
    enlarge(fd_, SO_SNDBUFFORCE, SO_SNDBUF);
    int const on = 1; // errors come with the address that they are about
    if (is_v6(where)) setsockopt(fd_, IPPROTO_IPV6, IPV6_RECVERR, &on, sizeof on);
    else setsockopt(fd_, IPPROTO_IP, IP_RECVERR, &on, sizeof on);
}

datagrams::~datagrams() { ::close(fd_); }

void datagrams::send(address const& to, std::byte const* packet, std::size_t size) {
    ++sent;
    for (int attempt = 0; attempt < 2; ++attempt) {
        if (sendto(fd_, packet, size, MSG_DONTWAIT | MSG_NOSIGNAL, as_sockaddr(to), length(to)) >= 0) {
            sent_bytes += size;
            if (shown_) shown_->datagram(self_, to, packet, size);
            return;
        }
        if (errno == EAGAIN) return;
        note_errors(); // what an earlier packet met with is told now
    }
}

bool datagrams::receive(bool all, taker const& take) {
    auto const before = received;
    bool const several = all || in_a_row_ >= in_a_row;
    bool const any = several ? receive_several(take) : receive_one(take);
    auto const count = received - before;
    if (several ? count < 2 : count == 0) in_a_row_ = 0;
    else if (!several) ++in_a_row_;
    return any;
}

bool datagrams::receive_one(taker const& take) {
    auto& [buffers, from, pieces, messages] = room();
    socklen_t name = sizeof from[0];
    auto const size =
        recvfrom(fd_, buffers[0].data(), longest, MSG_DONTWAIT, reinterpret_cast<sockaddr*>(&from[0]), &name);
    if (size >= 0) pass_on(from[0], name, buffers[0].data(), static_cast<std::size_t>(size), take);
    else if (errno == EAGAIN) return false;
    else note_errors();
    return true;
}

bool datagrams::receive_several(taker const& take) {
    auto& [buffers, from, pieces, messages] = room();
    bool any = false;
    for (unsigned round = 0; round < batches; ++round) {
        int const count = recvmmsg(fd_, messages.data(), batch, MSG_DONTWAIT, nullptr);
        if (count < 0) {
            if (errno == EAGAIN) break;
            note_errors();
            any = true;
            continue;
        }
        any = true;
        for (unsigned k = 0; k < static_cast<unsigned>(count); ++k) {
            auto const name = std::exchange(messages[k].msg_hdr.msg_namelen, sizeof(sockaddr_storage));
            pass_on(from[k], name, buffers[k].data(), messages[k].msg_len, take);
        }
        if (static_cast<unsigned>(count) < batch) break;
    }
    return any;
}

void datagrams::pass_on(sockaddr_storage const& from, socklen_t name, std::byte* packet, std::size_t size,
                        taker const& take) {
    auto const* const bytes = reinterpret_cast<char const*>(&from);
    if (last_from_.size() != name || std::memcmp(last_from_.data(), bytes, name) != 0) last_from_.assign(bytes, name);
    ++received;
    received_bytes += size;
    if (shown_) shown_->datagram(last_from_, self_, packet, size);
    take(last_from_, packet, size);
}

void datagrams::note_errors() {
    while (true) {
        sockaddr_storage about{};
        std::array<char, 512> details;
        std::array<char, 64> packet;
        iovec piece{packet.data(), packet.size()};
        msghdr message{};
        message.msg_name = &about;
        message.msg_namelen = sizeof about;
        message.msg_iov = &piece;
        message.msg_iovlen = 1;
        message.msg_control = details.data();
        message.msg_controllen = details.size();
        if (recvmsg(fd_, &message, MSG_ERRQUEUE | MSG_DONTWAIT) < 0) return;
        for (auto* one = CMSG_FIRSTHDR(&message); one; one = CMSG_NXTHDR(&message, one)) {
            if (one->cmsg_type != IP_RECVERR && one->cmsg_type != IPV6_RECVERR) continue;
            sock_extended_err error{};
            std::memcpy(&error, CMSG_DATA(one), sizeof error);
            if (error.ee_errno == ECONNREFUSED)
                refused_.push_back(net::from_sockaddr(reinterpret_cast<sockaddr const*>(&about)));
        }
    }
}

std::size_t path_mtu(address const& to, std::size_t limit) {
    constexpr std::size_t least = 1280;
    bool const v6 = is_v6(to);
    std::size_t const headers = v6 ? 48 : 28; // of IP and UDP
    int const fd = socket(as_sockaddr(to)->sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return least - headers;
    int mtu = 0;
    socklen_t size = sizeof mtu;
    if (connect(fd, as_sockaddr(to), length(to)) < 0 ||
        getsockopt(fd, v6 ? IPPROTO_IPV6 : IPPROTO_IP, v6 ? IPV6_MTU : IP_MTU, &mtu, &size) < 0)
        mtu = static_cast<int>(least);
    ::close(fd);
    // 65,535 is the most that IP can say.
    auto most = std::min<std::size_t>(static_cast<std::size_t>(mtu), 65'535);
    if (limit > 0) most = std::min(most, limit);
    return (std::max<std::size_t>(most, least) - headers) & ~std::size_t{3};
}

} // namespace assay::sctp
