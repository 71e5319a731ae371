// One connection to a peer, and what whoever uses several of them for one needs.
#pragma once
#include "transports/tcp/tcp.hpp"

namespace assay::tcp {

// The name of a peer may be a socket address with a suffix, which has the same length for all peers: two names that differ only in the
// suffix stand for two connections to one socket address.
class connections : public net::wire {
public:
    // Whether there is a connection that frames for this peer go by, or one is being made.
    virtual bool has(net::peer who) const = 0;
    // Begins with one, if there is none.
    virtual void call(net::peer who) = 0;
    // Ends those of a peer at once, with all reports. Not from within one.
    virtual void drop(net::peer who, int error) = 0;
    // Whether what comes from a peer is left where it is for now.
    virtual void pause(net::peer who, bool on) = 0;
    // Bytes that the other sides have not acknowledged.
    virtual std::uint64_t unacknowledged() const = 0;
};

// `suffix`: how many bytes follow the socket address in the name of a peer.
std::unique_ptr<connections> make_connections(net::sink& sink, options const& how, std::size_t suffix = 0);

// how.streams connections to a peer; for tcp::make.
std::unique_ptr<net::wire> make_streams(net::sink& sink, options const& how);

} // namespace assay::tcp
