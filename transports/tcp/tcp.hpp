// Segments over stream sockets. Addresses are socket addresses (sockaddr_in, sockaddr_in6).
//
// A connection begins with a greeting that names the address at which its maker listens, so that the other side can answer
// on it. Then each frame is its size (8 bytes, this machine's byte order), its head and its payload. A side sends to a peer
// over one connection only, so that order is kept.
//
// When two processes call each other at the same time each uses its own connection at first. Both stay with that of the lower address:
// over two, with data in one direction each, every frame would cost an acknowledgement of its own. The side with the higher address says
// there which of its connections it has left, ends that one after what it has sent, and the other side reads on only when it has seen
// that end.
//
// With several streams there are so many connections to a peer. Segments go over them in parts, wherever there is room, and the receiver
// puts them together in their order (streams.cpp).
#pragma once
#include "transports/net/wire.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

namespace assay::tcp {

inline constexpr unsigned most_streams = 64;

namespace fault {                                            // can be planted (net/fault.hpp), each for a test to find
inline constexpr std::string_view overtaking = "overtaking"; // frames on several streams are taken as they come
}

struct options {
    bool nodelay = true;  // TCP_NODELAY: no waiting for acknowledgements before a small frame is sent
    bool cork = false;    // TCP_CORK: what is sent between two polls goes in full packets, at the latest after 200 ms
    unsigned streams = 1; // connections to a peer, at most most_streams; both sides have to agree
    int buffer = 0;       // SO_SNDBUF and SO_RCVBUF in bytes; 0: the system's choice
    // Of a host that does not answer any more: its connections end by then. 0: never. A peer that reads nothing for so long while
    // data waits for it counts as gone, too (TCP_USER_TIMEOUT, tcp(7)).
    std::chrono::milliseconds timeout{0};
    std::chrono::milliseconds greeting{10'000}; // for a caller to say who it is
    std::string pcap = {};                      // file for all that is written and read
};

std::unique_ptr<net::wire> make(net::sink& sink, options const& how);

} // namespace assay::tcp
