// Segments over SCTP (RFC 9260) in UDP (RFC 6951), with the protocol of usrsctp. Addresses are socket addresses of the UDP
// socket (sockaddr_in, sockaddr_in6), and its port is the SCTP port, too.
//
// A wire is one one-to-many socket. A frame goes as messages of at most fragment_size on the stream of its flow: each begins
// with a `front`, and the first one goes on with the frame's head. Streams do not wait for each other; the receiver
// restores the order of frames from the numbers in their fronts.
//
// A wire may have several addresses, with a socket each and the same port. Peers know the first one, and learn the others when an association
// begins; from then on SCTP uses them when the first one fails, or all at once (CMT). The nth address of a peer is reached
// from the nth of our own.
#pragma once
#include "transports/net/impairment.hpp"
#include "transports/net/wire.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace assay::sctp {

inline constexpr std::size_t fragment_size = 64 * 1024;

// What of a flow makes the stream. Stream 0 is for control frames.
enum class stream_map { tag_and_context, tag, context, single };

namespace fault { // can be planted (net/fault.hpp), each for a test to find
using name = std::string_view;
inline constexpr name overtaking = "overtaking";       // frames are taken as they come
inline constexpr name lost_fragment = "lost_fragment"; // the second fragment of a frame is not sent
inline constexpr name one_stream = "one_stream";       // all frames go over one stream, whatever the map says
inline constexpr name deaf_to_paths = "deaf_to_paths"; // other addresses of a peer are not learned
} // namespace fault

struct options {
    std::uint16_t streams = 16;
    stream_map map = stream_map::tag_and_context;
    bool ordered = true;                       // false: frames on different streams overtake each other
    std::chrono::milliseconds timeout{30'000}; // a peer that is silent is gone by then
    int buffer = 1024 * 1024;                  // of what one peer has not acknowledged, and of what nobody has read
    std::size_t mtu = 0;                       // the largest IP packet; 0: what the way to a peer allows
    net::impairment network = {};              // what happens to packets
    std::vector<net::address> others = {};     // addresses beside the one to listen at; their ports do not matter
    bool concurrent = false;                   // CMT: all paths to a peer carry data at once
    std::string pcap = {};                     // file for all packets that leave and come
};

std::unique_ptr<net::wire> make(net::sink& sink, options const& how);

} // namespace assay::sctp
