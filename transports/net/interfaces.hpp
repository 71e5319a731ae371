// Socket addresses as addresses of a wire, and those of this machine.
#pragma once
#include "transports/net/wire.hpp"

#include <sys/socket.h>

namespace assay::net {

address from_sockaddr(sockaddr const* where); // sockaddr_in, sockaddr_in6
inline sockaddr const* as_sockaddr(address const& where) { return reinterpret_cast<sockaddr const*>(where.data()); }
inline socklen_t length(address const& where) { return static_cast<socklen_t>(where.size()); }

// The address that a socket is bound to. Throws std::system_error.
address bound_to(int socket);

// What a number says (192.0.2.1, 2001:db8::1), or else what any_port() finds for an interface of this name. Port 0. Throws std::system_error.
address from_text(std::string const& text);

// An address to listen at: of the first interface that is up, one that is not loopback if there is one; `interface` names
// another, `family` is AF_INET or AF_INET6. Port 0. Throws std::system_error.
address any_port(std::string const& interface = "", int family = AF_UNSPEC);

} // namespace assay::net
