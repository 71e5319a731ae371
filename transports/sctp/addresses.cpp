#include "transports/sctp/addresses.hpp"

#include "transports/net/interfaces.hpp"
#include "transports/sctp/stack.hpp"

#include <algorithm>
#include <cstring>
#include <netinet/in.h>

namespace assay::sctp {
namespace {

constexpr std::byte init{1}, init_ack{2};
constexpr std::uint16_t ipv4 = 5, ipv6 = 6;
constexpr std::size_t front = 4; // kind and length of a parameter, and of a chunk

std::size_t padded(std::size_t size) { return (size + 3) & ~std::size_t{3}; }

std::size_t read(std::byte const* at) {
    return std::to_integer<std::size_t>(at[0]) << 8 | std::to_integer<std::size_t>(at[1]);
}

void write(std::byte* at, std::size_t value) {
    at[0] = static_cast<std::byte>(value >> 8);
    at[1] = static_cast<std::byte>(value);
}

void append(std::vector<std::byte>& to, std::uint16_t kind, void const* value, std::size_t size) {
    auto const at = to.size();
    to.resize(at + front + size);
    write(to.data() + at, kind);
    write(to.data() + at + 2, front + size);
    std::memcpy(to.data() + at + front, value, size);
}

} // namespace

std::vector<std::byte> as_parameters(std::span<net::address const> addresses) {
    std::vector<std::byte> made;
    for (auto const& one : addresses) {
        if (net::as_sockaddr(one)->sa_family == AF_INET6)
            append(made, ipv6, &reinterpret_cast<sockaddr_in6 const*>(one.data())->sin6_addr, sizeof(in6_addr));
        else append(made, ipv4, &reinterpret_cast<sockaddr_in const*>(one.data())->sin_addr, sizeof(in_addr));
    }
    return made;
}

std::vector<net::address> from_parameters(std::span<std::byte const> parameters, std::uint16_t port) {
    std::vector<net::address> found;
    for (auto left = parameters; left.size() >= front && found.size() < most_addresses;) {
        auto const kind = read(left.data()), size = read(left.data() + 2);
        if (size < front || size > left.size()) break;
        auto const* const value = left.data() + front;
        if (kind == ipv4 && size == front + sizeof(in_addr)) {
            sockaddr_in one{};
            one.sin_family = AF_INET;
            one.sin_port = port;
            std::memcpy(&one.sin_addr, value, sizeof one.sin_addr);
            auto const number = ntohl(one.sin_addr.s_addr);
            if (number != INADDR_ANY && number != INADDR_BROADCAST && !IN_MULTICAST(number))
                found.push_back(net::from_sockaddr(reinterpret_cast<sockaddr const*>(&one)));
        } else if (kind == ipv6 && size == front + sizeof(in6_addr)) {
            sockaddr_in6 one{};
            one.sin6_family = AF_INET6;
            one.sin6_port = port;
            std::memcpy(&one.sin6_addr, value, sizeof one.sin6_addr);
            if (!IN6_IS_ADDR_UNSPECIFIED(&one.sin6_addr) && !IN6_IS_ADDR_MULTICAST(&one.sin6_addr))
                found.push_back(net::from_sockaddr(reinterpret_cast<sockaddr const*>(&one)));
        }
        left = left.subspan(std::min(padded(size), left.size()));
    }
    return found;
}

bool lists_addresses(std::byte const* packet, std::size_t size) {
    return size >= header_size + front && (packet[header_size] == init || packet[header_size] == init_ack);
}

std::vector<std::byte> with_parameters(std::byte const* packet, std::size_t size, std::span<std::byte const> more) {
    std::vector<std::byte> made(packet, packet + size);
    made.resize(padded(size)); // the last parameter may have no padding yet
    made.insert(made.end(), more.begin(), more.end());
    write(made.data() + header_size + 2, made.size() - header_size);
    return made;
}

} // namespace assay::sctp
