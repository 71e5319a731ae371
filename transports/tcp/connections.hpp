// One connection to a peer, and what whoever uses several of them for one needs.
#pragma once
#include "transports/tcp/tcp.hpp"

namespace assay::tcp {

// Names of peers may be socket addresses with something behind them, as long for all: who differs by that only has a connection of
// its own.
class connections : public wire::wire {
public:
    // Whether there is a connection that segments for this peer go by, or one is being made.
    virtual bool has(::assay::wire::peer who) const = 0;
    // Begins with one, if there is none.
    virtual void call(::assay::wire::peer who) = 0;
    // Ends those of a peer at once, with all reports. Not from within one.
    virtual void drop(::assay::wire::peer who, int error) = 0;
    // Bytes that the other sides have not acknowledged.
    virtual std::uint64_t unacknowledged() const = 0;
};

// `behind`: how many bytes there are behind the socket address in the name of a peer.
std::unique_ptr<connections> make_connections(wire::sink& sink, options const& how, std::size_t behind = 0);

// how.streams connections to a peer; for tcp::make.
std::unique_ptr<wire::wire> make_streams(wire::sink& sink, options const& how);

} // namespace assay::tcp
