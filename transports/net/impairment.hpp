// A bad network, for protocols that must survive it: packets are lost, doubled, late, out of order or damaged.
//
// What happens to a packet depends only on the seed, its peer and the number of packets that went there before; so a run can be
// repeated as far as the protocol repeats itself. It has no place above a reliable protocol, where nothing would repair the damage.
#pragma once
#include "transports/net/wire.hpp"

#include <chrono>
#include <map>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace assay::net {

struct impairment {
    using duration = std::chrono::microseconds;
    double loss = 0, dup = 0, reorder = 0, corrupt = 0; // percent of the packets
    duration delay{0};                                  // of every packet
    double rate = 0;                                    // MB/s to one address; 0: no limit
    duration down_at{0}, down_for{0};                   // nothing gets through; since the first packet
    int down_path = -1;                                 // the only path that is down; -1: all
    std::uint64_t seed = 1;

    bool any() const;
    // A switch: loss=PERCENT, dup=, reorder=, corrupt=, delay=MS, rate=MB/S, down=MS:MS[:PATH] (when, how long), seed=NUMBER.
    // False: there is no such switch, or the value does not have this form.
    bool apply(std::string_view name, std::string_view value);
};

class bad_network {
public:
    using clock = std::chrono::steady_clock;
    struct packet {
        peer to;
        std::vector<std::byte> bytes;
    };

    explicit bad_network(impairment const& how) : how_(how) {}

    // `which`: the number of the address among those of the peer, each of which is a path of its own.
    void put(peer to, std::byte const* data, std::size_t size, clock::time_point now, unsigned which = 0);
    // The packets that have left by now, in that order.
    std::vector<packet> take(clock::time_point now);
    bool empty() const { return waiting_.empty(); }

    std::uint64_t lost = 0, doubled = 0, reordered = 0, corrupted = 0;

private:
    struct path {
        std::uint64_t packets = 0;
        clock::time_point free{}; // when the link has sent what came before
    };

    impairment how_;
    clock::time_point first_{};
    std::unordered_map<peer, path> paths_;
    std::multimap<clock::time_point, packet> waiting_;
};

} // namespace assay::net
