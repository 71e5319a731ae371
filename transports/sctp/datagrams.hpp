// A UDP socket that packets go through.
#pragma once
#include "transports/net/pcap.hpp"

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <sys/socket.h>
#include <utility>
#include <vector>

namespace assay::sctp {

class datagrams {
public:
    using taker = std::function<void(net::address const& from, std::byte* packet, std::size_t size)>;

    explicit datagrams(net::address const& where); // throws std::system_error
    ~datagrams();
    datagrams(datagrams const&) = delete;
    datagrams& operator=(datagrams const&) = delete;

    int fd() const { return fd_; }
    net::address const& self() const { return self_; }

    // All that leave and come go to this file, too.
    void show(std::shared_ptr<net::pcap> file) { shown_ = std::move(file); }

    // What the system does not take is lost, as on the way.
    void send(net::address const& to, std::byte const* packet, std::size_t size);
    // Takes what is there: all, but not for ever, or a single packet where it looks as if one were all. Returns whether there was any.
    bool receive(bool all, taker const& take);
    // Peers at whose address nobody listens, as the system was told since the last call.
    std::vector<net::address> take_refused() { return std::exchange(refused_, {}); }

    std::uint64_t sent = 0, sent_bytes = 0, received = 0, received_bytes = 0;

private:
    bool receive_one(taker const& take);
    bool receive_several(taker const& take);
    void pass_on(sockaddr_storage const& from, socklen_t name, std::byte* packet, std::size_t size, taker const& take);
    void note_errors();

    int fd_ = -1;
    net::address self_, last_from_;
    std::vector<net::address> refused_;
    std::shared_ptr<net::pcap> shown_;
    // Calls that found one packet each. Asking for several costs more than asking for one, and less than asking for each.
    unsigned in_a_row_ = 0;
};

// The largest packet that reaches an address in one piece, and in an IP packet of at most `limit` bytes (0: any).
std::size_t path_mtu(net::address const& to, std::size_t limit);

} // namespace assay::sctp
