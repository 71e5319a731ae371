// Segments over SCTP (RFC 9260) in UDP (RFC 6951), with the protocol of usrsctp. Addresses are socket addresses of the UDP
// socket (sockaddr_in, sockaddr_in6), and its port is the SCTP port, too.
//
// A wire is one one-to-many socket. A segment goes as messages of at most fragment_size on the stream of its lane: each begins
// with a `front`, the first one has the segment's head behind it. Streams do not wait for each other; the receiver
// restores the order of segments from the numbers in their fronts.
//
// A wire may have several addresses, with a socket each and the same port. Peers know the first one, and learn the others when an association
// begins; from then on SCTP uses them when the first one fails, or all at once (CMT). The nth address of a peer is reached
// from the nth of our own.
#pragma once
#include "transports/wire/impairment.hpp"
#include "transports/wire/wire.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace assay::sctp {

inline constexpr std::size_t fragment_size = 64 * 1024;

// What of a lane makes the stream. Stream 0 is for control segments.
enum class stream_map { tag_and_context, tag, context, single };

// Defects that can be planted, each for a test to find.
enum class fault {
    none,
    overtaking,    // segments are taken as they come
    lost_fragment, // the second fragment of a segment is not sent
    one_stream,    // whatever the map says
    deaf_to_paths, // other addresses of a peer are not learned
};
inline fault fault_named(std::string_view name) { // others may be of another layer
    if (name == "overtaking") return fault::overtaking;
    if (name == "one_stream") return fault::one_stream;
    if (name == "deaf_to_paths") return fault::deaf_to_paths;
    return name == "lost_fragment" ? fault::lost_fragment : fault::none;
}

struct options {
    std::uint16_t streams = 16;
    stream_map map = stream_map::tag_and_context;
    bool ordered = true;                       // false: segments on different streams overtake each other
    std::chrono::milliseconds timeout{30'000}; // a peer that is silent is gone by then
    int buffer = 1024 * 1024;                  // of what one peer has not acknowledged, and of what nobody has read
    std::size_t mtu = 0;                       // the largest IP packet; 0: what the way to a peer allows
    wire::impairment network = {};             // what happens to packets
    std::vector<wire::address> others = {};    // addresses beside the one to listen at; their ports do not matter
    bool concurrent = false;                   // CMT: all paths to a peer carry data at once
    std::string pcap = {};                     // file for all packets that leave and come
    fault planted = fault::none;
};

std::unique_ptr<wire::wire> make(wire::sink& sink, options const& how);

} // namespace assay::sctp
