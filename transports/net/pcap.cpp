#include "transports/net/pcap.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/uio.h>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <vector>

namespace assay::net {
namespace {

// Of the file, in this machine's byte order: readers look at the first number.
struct file_head {
    std::uint32_t magic = 0xa1b23c4d; // times are in nanoseconds
    std::uint16_t major = 2, minor = 4;
    std::uint32_t zone = 0, accuracy = 0, longest = 262'144;
    std::uint32_t link = 101; // LINKTYPE_RAW
};
struct packet_head {
    std::uint32_t seconds, nanoseconds, kept, size;
};

enum : std::uint8_t { fin = 1, syn = 2, psh = 8, ack = 16 };

// The sum of RFC 1071, of bytes that come in parts.
class internet_sum {
public:
    void add(void const* data, std::size_t size) {
        auto const* const bytes = static_cast<unsigned char const*>(data);
        for (std::size_t k = 0; k < size; ++k, odd_ = !odd_) sum_ += odd_ ? bytes[k] : bytes[k] << 8u;
    }
    std::uint16_t value() const {
        auto folded = sum_;
        while (folded >> 16) folded = (folded & 0xffff) + (folded >> 16);
        return static_cast<std::uint16_t>(~folded);
    }

private:
    std::uint64_t sum_ = 0;
    bool odd_ = false;
};

void big(std::byte* to, std::uint64_t value, unsigned size) {
    for (unsigned k = 0; k < size; ++k) to[k] = static_cast<std::byte>(value >> 8 * (size - 1 - k));
}

in_port_t port_of(address const& where) { // at the same place in both kinds
    return ntohs(reinterpret_cast<sockaddr_in const*>(where.data())->sin_port);
}

bool is_v6(address const& where) { return where.size() == sizeof(sockaddr_in6); }

std::span<std::byte const> number_of(address const& where) {
    auto const* const bytes = reinterpret_cast<std::byte const*>(where.data());
    if (is_v6(where)) return {bytes + offsetof(sockaddr_in6, sin6_addr), sizeof(in6_addr)};
    return {bytes + offsetof(sockaddr_in, sin_addr), sizeof(in_addr)};
}

} // namespace

pcap::pcap(std::string const& path)
    : fd_(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644)), path_(path) {
    file_head const head;
    if (fd_ < 0 || ::write(fd_, &head, sizeof head) != sizeof head) {
        int const error = errno;
        std::fprintf(stderr, "ASSAY_PCAP: %s cannot be written: %s; it has to name a folder\n", path.c_str(),
                     std::strerror(error));
        if (fd_ >= 0) ::close(fd_);
        throw std::system_error(error, std::generic_category(), path);
    }
}

pcap::~pcap() {
    if (fd_ >= 0) ::close(fd_);
}

void pcap::datagram(address const& from, address const& to, std::byte const* data, std::size_t size) {
    std::array<std::byte, 8> front{};
    big(front.data(), port_of(from), 2);
    big(front.data() + 2, port_of(to), 2);
    big(front.data() + 4, front.size() + size, 2);
    iovec const piece{const_cast<std::byte*>(data), size};
    write(from, to, IPPROTO_UDP, front, 6, {&piece, 1});
}

void pcap::segment(address const& from, address const& to, place const& where, std::span<iovec const> data) {
    std::array<std::byte, 20> front{};
    big(front.data(), port_of(from), 2);
    big(front.data() + 2, port_of(to), 2);
    big(front.data() + 4, where.number, 4);
    big(front.data() + 8, where.acknowledged, 4);
    front[12] = std::byte{5 << 4}; // words of this head
    front[13] = std::byte{where.flags};
    big(front.data() + 14, 65'535, 2);
    write(from, to, IPPROTO_TCP, front, 16, data);
}

// `front` is the head of the protocol, with its sum still missing.
void pcap::write(address const& from, address const& to, std::uint8_t protocol, std::span<std::byte> front,
                 std::size_t sum_at, std::span<iovec const> data) {
    if (fd_ < 0) return;
    std::size_t size = front.size();
    for (auto const& one : data) size += one.iov_len;
    auto const source = number_of(from), target = number_of(to);

    internet_sum sum; // also of what IP says
    std::array<std::byte, 4> said{};
    big(said.data(), size, 2);
    said[3] = std::byte{protocol};
    sum.add(source.data(), source.size());
    sum.add(target.data(), target.size());
    sum.add(said.data(), said.size());
    sum.add(front.data(), front.size());
    for (auto const& one : data) sum.add(one.iov_base, one.iov_len);
    auto const value = sum.value();
    big(front.data() + sum_at, value == 0 && protocol == IPPROTO_UDP ? 0xffff : value, 2); // UDP: 0 is none

    std::array<std::byte, 40> ip{};
    bool const v6 = is_v6(from);
    std::size_t const ip_size = v6 ? 40 : 20;
    auto* numbers = ip.data() + (v6 ? 8 : 12);
    numbers = std::copy(source.begin(), source.end(), numbers);
    std::copy(target.begin(), target.end(), numbers);
    if (v6) {
        ip[0] = std::byte{6 << 4};
        big(ip.data() + 4, size, 2);
        ip[6] = std::byte{protocol};
        ip[7] = std::byte{64}; // hops
    } else {
        ip[0] = std::byte{4 << 4 | 5}; // words of this head
        big(ip.data() + 2, ip_size + size, 2);
        ip[6] = std::byte{0x40}; // in one piece
        ip[8] = std::byte{64};
        ip[9] = std::byte{protocol};
        internet_sum head;
        head.add(ip.data(), ip_size);
        big(ip.data() + 10, head.value(), 2);
    }

    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    auto const whole = static_cast<std::uint32_t>(ip_size + size);
    packet_head head{static_cast<std::uint32_t>(now.tv_sec), static_cast<std::uint32_t>(now.tv_nsec), whole, whole};
    std::vector<iovec> all{{&head, sizeof head}, {ip.data(), ip_size}, {front.data(), front.size()}};
    all.insert(all.end(), data.begin(), data.end());
    if (writev(fd_, all.data(), static_cast<int>(all.size())) == static_cast<ssize_t>(sizeof head + whole)) return;
    // Half a packet is the last one that a reader finds.
    std::fprintf(stderr, "ASSAY_PCAP: %s ends here: %s\n", path_.c_str(), std::strerror(errno));
    ::close(std::exchange(fd_, -1));
}

pcap_connection::pcap_connection(pcap& to, address here, address there, bool called)
    : to_(to), ends_{std::move(here), std::move(there)} {
    unsigned const caller = called ? 0 : 1;
    put(caller, syn);
    put(1 - caller, syn | ack);
    put(caller, ack);
}

void pcap_connection::ended(bool here) {
    unsigned const by = here ? 0 : 1;
    if (std::exchange(ended_[by], true)) return;
    put(by, fin | ack);
    put(1 - by, ack);
}

void pcap_connection::data(unsigned by, std::span<iovec const> pieces, std::size_t size) {
    std::vector<iovec> now; // of one segment
    std::size_t in_it = 0;
    for (auto const& one : pieces) {
        auto piece = one;
        piece.iov_len = std::min(piece.iov_len, size);
        size -= piece.iov_len;
        while (piece.iov_len > 0) {
            auto const part = std::min(piece.iov_len, pcap::longest_segment - in_it);
            now.push_back({piece.iov_base, part});
            in_it += part;
            piece.iov_base = static_cast<std::byte*>(piece.iov_base) + part;
            piece.iov_len -= part;
            if (in_it < pcap::longest_segment || (piece.iov_len == 0 && size == 0)) continue;
            put(by, ack, now, in_it);
            now.clear();
            in_it = 0;
        }
    }
    if (in_it > 0) put(by, psh | ack, now, in_it);
}

void pcap_connection::put(unsigned by, std::uint8_t flags, std::span<iovec const> pieces, std::size_t size) {
    to_.segment(ends_[by], ends_[1 - by],
                {.number = next_[by], .acknowledged = flags & ack ? next_[1 - by] : 0, .flags = flags}, pieces);
    next_[by] += static_cast<std::uint32_t>(size) + (flags & (syn | fin) ? 1 : 0);
}

} // namespace assay::net
