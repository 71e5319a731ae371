// The addresses of an endpoint that has several, as INIT and INIT ACK list them (RFC 9260, 3.3.2.1). usrsctp does not: peers are numbers
// for it, and it knows no other address of a peer than the one that its packet came from.
#pragma once
#include "transports/net/wire.hpp"

#include <vector>

namespace assay::sctp {

inline constexpr std::size_t most_addresses = 8;

// Parameters of a chunk: an IPv4 or IPv6 address each. The port is not in them, it is that of UDP.
std::vector<std::byte> as_parameters(std::span<net::address const> addresses);
// What such parameters say, among others; nobody has checked them. At most most_addresses, with this port.
std::vector<net::address> from_parameters(std::span<std::byte const> parameters, std::uint16_t port);

// Whether a packet begins with INIT or INIT ACK: nothing else is in it then.
bool lists_addresses(std::byte const* packet, std::size_t size);
// Such a packet with more parameters; its checksum is 0.
std::vector<std::byte> with_parameters(std::byte const* packet, std::size_t size, std::span<std::byte const> more);

} // namespace assay::sctp
