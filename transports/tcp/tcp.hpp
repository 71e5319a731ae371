// Segments over stream sockets. Addresses are socket addresses (sockaddr_in, sockaddr_in6).
//
// A connection begins with a greeting that names the address at which its maker listens, so that the other side can answer
// on it. Then each segment is its size (8 bytes, this machine's byte order), its head and its payload. When two processes
// connect to each other at the same time both connections stay, and each uses its own: a side sends to a peer
// over one connection only, so that order is kept.
#pragma once
#include "transports/wire/wire.hpp"

#include <memory>
#include <string>

namespace assay::tcp {

struct options {
    bool nodelay = true;   // TCP_NODELAY: no waiting for acknowledgements before a small segment is sent
    int buffer = 0;        // SO_SNDBUF and SO_RCVBUF in bytes; 0: the system's choice
    std::string pcap = {}; // file for all that is written and read
};

std::unique_ptr<wire::wire> make(wire::sink& sink, options const& how);

} // namespace assay::tcp
